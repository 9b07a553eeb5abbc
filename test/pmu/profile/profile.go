// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package profile reads what the tests need of profiles.
package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Profile is a profile, summed up.
type Profile struct {
	Types     []string         // of samples
	Samples   int64            // sum of the first values
	NoStack   int64            // of these, samples without a location
	Sums      []int64          // sums of the values, by type
	Functions map[string]int64 // of Samples, those with the function
	Comments  []string
}

// Number returns the number in the i'th comment "key number ...", or -1.
func (p *Profile) Number(i int, key string) int64 {
	for _, c := range p.Comments {
		v, ok := strings.CutPrefix(c, key)
		if !ok {
			continue
		}
		if i--; i < 0 {
			v, _, _ = strings.Cut(v, " ")
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}
	}
	return -1
}

// Fields of the messages of profile.proto
// (github.com/google/pprof/blob/main/proto/profile.proto).
const (
	profileSampleType = 1
	profileSample     = 2
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileComment    = 13
	typeType          = 1
	sampleLocation    = 1
	sampleValue       = 2
	locationID        = 1
	locationLine      = 4
	lineFunction      = 1
	functionID        = 1
	functionName      = 2
)

// Parse decodes a profile and checks that its references lead somewhere.
func Parse(data []byte) (*Profile, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	type sample struct {
		n    int64
		locs []uint64
	}
	var (
		p               Profile
		strs            []string
		types, comments []uint64
		samples         []sample
		locations       = make(map[uint64][]uint64) // functions
		functions       = make(map[uint64]uint64)   // names
		wrongValues     bool
	)
	err = fields(raw, func(f int, n uint64, b []byte) error {
		switch f {
		case profileSampleType:
			p.Sums = append(p.Sums, 0)
			return fields(b, func(f int, n uint64, b []byte) error {
				if f == typeType {
					types = append(types, n)
				}
				return nil
			})
		case profileSample:
			var locs, values []uint64
			err := fields(b, func(f int, n uint64, b []byte) error {
				switch f {
				case sampleLocation:
					return numbers(&locs, n, b)
				case sampleValue:
					return numbers(&values, n, b)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if len(values) != len(p.Sums) || len(values) == 0 {
				wrongValues = true
				return nil
			}
			if len(locs) == 0 {
				p.NoStack += int64(values[0])
			}
			samples = append(samples, sample{int64(values[0]), locs})
			for i, v := range values {
				p.Sums[i] += int64(v)
			}
		case profileLocation:
			var id uint64
			in := []uint64{}
			err := fields(b, func(f int, n uint64, b []byte) error {
				switch f {
				case locationID:
					id = n
				case locationLine:
					return fields(b, func(f int, n uint64, b []byte) error {
						if f == lineFunction {
							in = append(in, n)
						}
						return nil
					})
				}
				return nil
			})
			locations[id] = in
			return err
		case profileFunction:
			var id, name uint64
			err := fields(b, func(f int, n uint64, b []byte) error {
				switch f {
				case functionID:
					id = n
				case functionName:
					name = n
				}
				return nil
			})
			functions[id] = name
			return err
		case profileString:
			strs = append(strs, string(b))
		case profileComment:
			return numbers(&comments, n, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	str := func(i uint64) string {
		if i >= uint64(len(strs)) {
			err = fmt.Errorf("string %d of %d", i, len(strs))
			return ""
		}
		return strs[i]
	}
	for _, i := range types {
		p.Types = append(p.Types, str(i))
	}
	for _, i := range comments {
		p.Comments = append(p.Comments, str(i))
	}
	p.Functions = make(map[string]int64)
	for _, sample := range samples {
		names := make(map[string]bool)
		for _, id := range sample.locs {
			in, ok := locations[id]
			if !ok {
				err = fmt.Errorf("no location %d", id)
			}
			for _, f := range in {
				names[str(functions[f])] = true
			}
		}
		for name := range names {
			p.Functions[name] += sample.n
		}
	}
	if wrongValues {
		err = errors.New("a sample has another number of values than there are types")
	}
	if len(p.Sums) > 0 {
		p.Samples = p.Sums[0]
	}
	return &p, err
}

// fields calls f with each field of a message: its number, and its value, or
// its bytes if it has a length.
func fields(b []byte, f func(field int, n uint64, b []byte) error) error {
	for len(b) > 0 {
		key, l := binary.Uvarint(b)
		if l <= 0 {
			return errors.New("malformed profile")
		}
		b = b[l:]
		n, l := binary.Uvarint(b)
		if l <= 0 {
			return errors.New("malformed profile")
		}
		b = b[l:]
		var value []byte
		switch key & 7 {
		case 0: // a number
		case 2: // n bytes
			if n > uint64(len(b)) {
				return errors.New("truncated profile")
			}
			value, b = b[:n:n], b[n:]
			if value == nil {
				value = []byte{}
			}
		default:
			return fmt.Errorf("wire type %d in a profile", key&7)
		}
		if err := f(int(key>>3), n, value); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends a repeated field's values to list: n, or those packed in b.
func numbers(list *[]uint64, n uint64, b []byte) error {
	if b == nil {
		*list = append(*list, n)
		return nil
	}
	for len(b) > 0 {
		n, l := binary.Uvarint(b)
		if l <= 0 {
			return errors.New("malformed profile")
		}
		*list = append(*list, n)
		b = b[l:]
	}
	return nil
}
