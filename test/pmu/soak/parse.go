// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

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

// profileData is what check needs of a profile.
type profileData struct {
	types    []string // of samples
	samples  int64    // sum of the first values
	noStack  int64    // of these, samples without a location
	sums     []int64  // sums of the values, by type
	comments []string
}

// number returns the number in the i'th comment "key number ...".
func (p *profileData) number(i int, key string) int64 {
	for _, c := range p.comments {
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
	profileString     = 6
	profileComment    = 13
	typeType          = 1
	sampleLocation    = 1
	sampleValue       = 2
	locationID        = 1
)

// parseProfile decodes a profile and checks that its references lead somewhere.
func parseProfile(data []byte) (*profileData, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	var (
		p                     profileData
		strs                  []string
		types, comments, used []uint64
		locations             = make(map[uint64]bool)
		wrongValues           bool
	)
	err = fields(raw, func(f int, n uint64, b []byte) error {
		switch f {
		case profileSampleType:
			p.sums = append(p.sums, 0)
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
			used = append(used, locs...)
			if len(values) != len(p.sums) || len(values) == 0 {
				wrongValues = true
				return nil
			}
			if len(locs) == 0 {
				p.noStack += int64(values[0])
			}
			for i, v := range values {
				p.sums[i] += int64(v)
			}
		case profileLocation:
			return fields(b, func(f int, n uint64, b []byte) error {
				if f == locationID {
					locations[n] = true
				}
				return nil
			})
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
		p.types = append(p.types, str(i))
	}
	for _, i := range comments {
		p.comments = append(p.comments, str(i))
	}
	for _, id := range used {
		if !locations[id] {
			err = fmt.Errorf("no location %d", id)
		}
	}
	if wrongValues {
		err = errors.New("a sample has another number of values than there are types")
	}
	if len(p.sums) > 0 {
		p.samples = p.sums[0]
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
