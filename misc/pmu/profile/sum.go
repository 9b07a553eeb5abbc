// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import (
	"strconv"
	"strings"
)

// Keys of a profile's comments. Each comment is "KEY: VALUE", and the ledger's values
// begin with a number. Package runtime/pprof writes them, in perf_ledger.go.
const (
	Event         = "event"
	Period        = "period"
	LongestPeriod = "longest period" // if the overhead bound acted
	Threads       = "threads"
	Counted       = "counted"
	Sampled       = "sampled"
	NotSampled    = "threads not sampled" // a warning
	FoundLate     = "found late"
)

// Keys of the ledger's numbers of samples.
var (
	recorded = []string{"samples", "delayed", "in handler"}
	lost     = []string{"lost in ring", "lost late", "lost at start", "lost in buffer"}
)

// comment splits a comment at its key. Warnings have a key of their own.
func comment(c string) (key, value string) {
	key, value, _ = strings.Cut(strings.TrimPrefix(c, "warning: "), ": ")
	return key, value
}

// values returns the values of the comments with the key, in order.
func (p *Profile) values(key string) (values []string) {
	for _, c := range p.Comments {
		if k, v := comment(c); k == key {
			values = append(values, v)
		}
	}
	return values
}

// Numbers returns the numbers of the ledger's lines with the key: one for each
// event, or for each PMU of an event that has several.
func (p *Profile) Numbers(key string) (numbers []int64) {
	for _, v := range p.values(key) {
		v, _, _ = strings.Cut(v, " ")
		n, _ := strconv.ParseInt(v, 10, 64)
		numbers = append(numbers, n)
	}
	return numbers
}

// Number returns the sum of Numbers.
func (p *Profile) Number(key string) (sum int64) {
	for _, n := range p.Numbers(key) {
		sum += n
	}
	return sum
}

// MaxPeriod returns the longest period that a sample may have.
func (p *Profile) MaxPeriod() int64 {
	return max(p.Number(Period), p.Number(LongestPeriod))
}

// Ledger returns the number of samples of all events, those lost included, and
// how many of them were lost.
func (p *Profile) Ledger() (samples, losses int64) {
	for _, key := range lost {
		losses += p.Number(key)
	}
	samples = losses
	for _, key := range recorded {
		samples += p.Number(key)
	}
	return samples, losses
}

// Warnings returns the profile's warnings.
func (p *Profile) Warnings() (warnings []string) {
	for _, c := range p.Comments {
		if w, ok := strings.CutPrefix(c, "warning: "); ok {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// A Summary is a profile with sums over its samples.
type Summary struct {
	*Profile
	Count     int64            // sum of the first values
	NoStack   int64            // of these, samples without a location
	Sums      []int64          // sums of the values, by type
	Functions map[string]int64 // of Count, those with the function in their stack
	Events    map[string]int64 // of the sum of the last values, those with the function
}

// Sum sums up the samples.
func (p *Profile) Sum() *Summary {
	s := &Summary{Profile: p, Sums: make([]int64, len(p.Types)), Functions: make(map[string]int64), Events: make(map[string]int64)}
	for _, sample := range p.Samples {
		for i, v := range sample.Values {
			s.Sums[i] += v
		}
		n := sample.Values[0]
		s.Count += n
		if len(sample.Stack) == 0 {
			s.NoStack += n
		}
		seen := make(map[string]bool)
		for _, f := range sample.Stack {
			if !seen[f] {
				seen[f] = true
				s.Functions[f] += n
				s.Events[f] += sample.Values[len(sample.Values)-1]
			}
		}
	}
	return s
}
