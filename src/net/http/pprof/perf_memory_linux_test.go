// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import "syscall"

// freshMemory returns n bytes that cause page faults, and a function that frees
// them. Memory that the heap uses again causes none; and where it has been given
// back to the kernel before, by a garbage collection for each time, a busy machine
// had profiles of a second in which nothing else ran.
func freshMemory(n int) (b []byte, free func()) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return b, func() { syscall.Munmap(b) }
}
