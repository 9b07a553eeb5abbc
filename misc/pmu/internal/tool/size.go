// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tool

import "debug/elf"

// Size returns the bytes of a program's sections. What the linker adds to have sections
// begin on pages is not counted: a byte more can make it 4096 more.
func Size(exe string) (int, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS {
			n += int(s.FileSize)
		}
	}
	return n, nil
}
