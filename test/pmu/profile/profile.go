// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package profile sums up profiles for the tests.
package profile

import (
	"bytes"
	"strconv"
	"strings"

	"pmu/profile"
)

// A Profile is a profile, summed up.
type Profile struct {
	Types     []string         // of samples
	Samples   int64            // sum of the first values
	NoStack   int64            // of these, samples without a location
	Sums      []int64          // sums of the values, by type
	Functions map[string]int64 // of Samples, those with the function
	Events    map[string]int64 // of the sum of the last values, what the function has
	Comments  []string
}

// Parse decodes a profile and checks that its references lead somewhere.
func Parse(data []byte) (*Profile, error) {
	r, err := profile.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	p := &Profile{Sums: make([]int64, len(r.Types)), Functions: make(map[string]int64), Events: make(map[string]int64), Comments: r.Comments}
	for _, t := range r.Types {
		p.Types = append(p.Types, t[0])
	}
	for _, s := range r.Samples {
		n := s.Values[0]
		for i, v := range s.Values {
			p.Sums[i] += v
		}
		if len(s.Stack) == 0 {
			p.NoStack += n
		}
		seen := make(map[string]bool)
		for _, f := range s.Stack {
			if !seen[f] {
				seen[f] = true
				p.Functions[f] += n
				p.Events[f] += s.Values[len(s.Values)-1]
			}
		}
	}
	if len(p.Sums) > 0 {
		p.Samples = p.Sums[0]
	}
	return p, nil
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
			n, _ := strconv.ParseInt(strings.TrimSuffix(v, ","), 10, 64)
			return n
		}
	}
	return -1
}
