// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/abi"
	"unsafe"
)

// perfFunc returns the entry of the function with the given name, for a
// breakpoint on it, and how many functions have that name. Wrappers between
// ABIs and method wrappers share the name of what they wrap and don't count.
//
//go:linkname perfFunc runtime/pprof.runtime_perfFunc
func perfFunc(name string) (entry uintptr, n int) {
	for _, md := range activeModules() {
		if len(md.ftab) == 0 {
			continue
		}
		// The last entry only marks the end.
		for _, e := range md.ftab[:len(md.ftab)-1] {
			f := funcInfo{(*_func)(unsafe.Pointer(&md.pclntable[e.funcoff])), md}
			if f.funcID != abi.FuncIDWrapper && funcname(f) == name {
				entry = f.entry()
				n++
			}
		}
	}
	return entry, n
}
