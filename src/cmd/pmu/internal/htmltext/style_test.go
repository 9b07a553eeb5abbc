// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package htmltext

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStyle tests that each colour is one for light and one for dark, which differ.
func TestStyle(t *testing.T) {
	light, dark, ok := strings.Cut(Style, "@media (prefers-color-scheme:dark)")
	dark, rest, ok2 := strings.Cut(dark, "}}")
	if !ok || !ok2 {
		t.Fatal("no colours for the dark")
	}
	colour := regexp.MustCompile(`(--[a-z-]+):(#[0-9a-f]+)`)
	names := func(text string) (names []string, values map[string]string) {
		values = make(map[string]string)
		for _, m := range colour.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
			values[m[1]] = m[2]
		}
		slices.Sort(names)
		return names, values
	}
	a, in := names(light)
	b, out := names(dark)
	if !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("light has %q, dark %q", a, b)
	}
	for _, name := range a {
		if in[name] == out[name] {
			t.Errorf("%s is the same in both", name)
		}
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)\)`).FindAllStringSubmatch(rest, -1) {
		if in[m[1]] == "" {
			t.Errorf("%s is no colour", m[1])
		}
	}
	if strings.Contains(rest, "#") {
		t.Error("a colour that is not a variable")
	}
}
