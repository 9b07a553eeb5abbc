// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"fmt"
	"testing"
)

// TestKindCache tests names that are looked for in the same place.
func TestKindCache(t *testing.T) {
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("TestKindCache%c%d%c", 'a'+i%5, i/5%7, 'a'+i%3))
	}
	for range 3 {
		for _, name := range names {
			if k := kindOf(name, false); k.name != name {
				t.Fatalf("%q is of kind %q", name, k.name)
			}
		}
	}
	if k := kindOf("", false); k.name != "" {
		t.Errorf("no name is %q", k.name)
	}
}
