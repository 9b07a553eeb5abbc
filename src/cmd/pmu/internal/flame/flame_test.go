// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package flame

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// TestShort tests what is left of functions' names.
func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"net/http.(*Server).Serve": "http.(*Server).Serve", "a.b/c/d.F[x/y.T]": "d.F[x/y.T]", "[kernel]": "[kernel]", "schedule [k]": "schedule [k]", "main.f": "main.f", "": "", "a/b.(*c/d).e": "b.(*c/d).e",
		"GET /cart/{id}": "GET /cart/{id}", `ended by task "a/b" at x.go:1`: `ended by task "a/b" at x.go:1`, "a/b.F at c/d": "b.F at c/d",
	} {
		if got := Short(name); got != want {
			t.Errorf("Short(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestColours tests that names can be read on every colour of a frame: WCAG asks for a contrast
// of 4.5.
func TestColours(t *testing.T) {
	luminance := func(hex string) float64 {
		l := 0.0
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			l += weight * c
		}
		return l
	}
	rules := regexp.MustCompile(`(?m)^\.c(\d)\{background:(.*)\}$`).FindAllStringSubmatch(Style, -1)
	if len(rules) != 9 {
		t.Errorf("%d colours", len(rules))
	}
	for _, r := range rules {
		for _, hex := range regexp.MustCompile("#([0-9a-f]+)").FindAllStringSubmatch(r[2], -1) {
			if c := (luminance(hex[1]) + 0.05) / (luminance("1a1a1a") + 0.05); c < 4.5 {
				t.Errorf("class %s: contrast %.1f", r[1], c)
			}
		}
	}
}
