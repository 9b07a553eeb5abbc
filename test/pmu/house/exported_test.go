// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExportedNames(t *testing.T) {
	s, err := exportedNames("testdata/api")
	if err != nil {
		t.Fatal(err)
	}
	// C, F, T with three methods and three fields, two of them embedded, V, U with a method
	// and a field; and I with a method.
	checkRows(t, s, "a/b 13", "c 2", "all 15")

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "3.txt"), []byte("pkg a, const C = 1 #3\nC\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := exportedNames(dir); err == nil || !strings.Contains(err.Error(), "3.txt:2: ") {
		t.Errorf("got %v", err)
	}
}
