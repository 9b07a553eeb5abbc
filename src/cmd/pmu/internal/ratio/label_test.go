// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"internal/profile"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestLabels tests that each sample gets the class of its innermost function, and that all else
// of the profile stays as it is.
func TestLabels(t *testing.T) {
	p := cpi()
	data := p.encode(t)
	r := p.read(t, Options{})
	var b bytes.Buffer
	if err := r.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	before, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	after, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	// g's own CPI is 6, in both places; that of main's stack with few samples isn't known.
	want := []string{"6.00 or more", "0.750 to 1.06", "0.375 to 0.750", "6.00 or more", "uncertain", "no ratio"}
	for i, s := range after.Sample {
		if got := s.Label[Label]; len(got) != 1 || got[0] != want[i] {
			t.Errorf("%s: label %q, want %q", p.stacks[i].stack, got, want[i])
		}
		delete(s.Label, Label)
		if !slices.Equal(s.Value, before.Sample[i].Value) || !slices.Equal(stackOf(s), stackOf(before.Sample[i])) {
			t.Errorf("sample %d is %v of %v", i, s.Value, stackOf(s))
		}
	}
	n := len(before.Comments)
	if len(after.Comments) != n+1 || !slices.Equal(after.Comments[:n], before.Comments) ||
		after.Comments[n] != "ratio: label with the class of each function's own cycles per instruction (CPI); uncertain: its standard error is above 20 %" {
		t.Errorf("comments %q", after.Comments)
	}
	if !reflect.DeepEqual(after.SampleType[1].Type, before.SampleType[1].Type) {
		t.Errorf("types %v", after.SampleType)
	}
}

// TestOtherLabels tests that labels which are there stay, and that one of the same name isn't
// replaced or mixed with.
func TestOtherLabels(t *testing.T) {
	raw := cpi().profile()
	for i, s := range raw.Sample {
		s.Label = map[string][]string{"user": {"a", "b"}}
		s.NumLabel = map[string][]int64{"bytes": {int64(i + 1)}}
	}
	var b bytes.Buffer
	if err := raw.Write(&b); err != nil {
		t.Fatal(err)
	}
	read := func() *Profile {
		// Write has left out the comments, so the number of samples.
		list := eventsOf(raw)
		p, err := prof.Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		p.Profile = raw
		r := &Profile{raw: p, maxError: 1, events: [2]event{list[0], list[1]}, kind: kinds[0].kind}
		r.total, _ = r.sum()
		for i := range r.events {
			r.events[i].mean = 1000
		}
		return r
	}
	var out bytes.Buffer
	if err := read().WriteProfile(&out); err != nil {
		t.Fatal(err)
	}
	after, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range after.Sample {
		delete(s.Label, Label)
		if !maps.EqualFunc(s.Label, map[string][]string{"user": {"a", "b"}}, slices.Equal) || !slices.Equal(s.NumLabel["bytes"], []int64{int64(i + 1)}) {
			t.Errorf("labels %v, %v", s.Label, s.NumLabel)
		}
	}
	raw.Sample[3].Label[Label] = []string{"mine"}
	if err := read().WriteProfile(&out); err == nil || !strings.Contains(err.Error(), `the profile's samples have labels "ratio" already`) {
		t.Errorf("error %v", err)
	}
}
