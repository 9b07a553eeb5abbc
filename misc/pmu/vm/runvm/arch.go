// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// An arch is what differs between the machines of two architectures.
type arch struct {
	qemu    string   // the command
	cpu     string   // QEMU's -cpu, unless PMUVM_CPU says otherwise
	bios    bool     // setup.bash made Options.Dir/bios, the firmware
	console string   // the kernel's console
	serial  int      // number of the first serial port that is the program's
	builtin []string // of guestspec.Modules, what the kernel has built in
}

var arches = map[string]arch{
	"arm64": {qemu: "qemu-system-aarch64", cpu: "cortex-a57", console: "ttyAMA0"},
	// Overflows interrupt by Sscofpmf. With Smcntrpmf, cycles and instructions are
	// counted in the modes that an event asks for.
	"riscv64": {qemu: "qemu-system-riscv64", cpu: "rv64,sscofpmf=on,smcntrpmf=on", bios: true, console: "ttyS0", serial: 1, builtin: []string{"virtio_ring.ko", "virtio.ko"}},
}

func setArch(p *arch, v string) error {
	a, ok := arches[v]
	if !ok {
		return fmt.Errorf("want arm64 or riscv64")
	}
	*p = a
	return nil
}
