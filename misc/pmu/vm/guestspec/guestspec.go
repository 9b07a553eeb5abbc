// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package guestspec defines what the host passes to the guest and how the guest
// answers. Both ends are built from the same sources by setup.bash.
package guestspec

// Path is where the guest's init finds its Spec, as JSON.
const Path = "/pmuvm.json"

// Modules lists the kernel modules that the guest's init loads, in this
// order, before it writes files back. They are shipped only when Spec.Out is
// set, and loaded only once the program has ended, so that the disk's
// interrupts cannot disturb what the program measures.
var Modules = []string{"virtio_ring.ko", "virtio.ko", "virtio_mmio.ko", "virtio_blk.ko"}

// ModuleDir is where the guest finds Modules.
const ModuleDir = "/modules"

// Disk is the block device that receives the files as a tar archive.
const Disk = "/dev/vda"

// A Spec says what the guest runs, and as whom.
type Spec struct {
	Args     []string // Args[0] is the program's path in the guest
	Env      []string // the whole environment
	Dir      string   // working directory
	Out      string   // new and changed files below it go to Disk; "" for none
	UID      int      // user and group id of the program
	Paranoid int      // kernel.perf_event_paranoid
	Stdout   string   // device that is the program's standard output
	Stderr   string   // device that is the program's standard error; may equal Stdout
}

// The guest's init ends its run with one line on the console: either
// ExitMark and the program's exit status in decimal, or FailMark and what
// kept the program from running or its files from being saved.
const (
	ExitMark = "pmuvm-exit: "
	FailMark = "pmuvm-fail: "
)
