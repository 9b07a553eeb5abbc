// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"pmu/vm/guestspec"
)

// diskSize is the most that can be fetched. The file is sparse.
const diskSize = 4 << 30

// kernelArgs makes an oops end the machine, and leaves out of the boot what
// takes half of it: self-tests of ciphers, and the keys of signed modules.
const kernelArgs = "quiet panic=-1 oops=panic cryptomgr.notests initcall_blacklist=load_system_certificate_list"

// A machine is one boot of the emulated machine.
type machine struct {
	opt   *Options
	tmp   string // directory for this boot alone
	split bool   // standard output and error are two streams
}

func (m *machine) initrdPath() string  { return filepath.Join(m.tmp, "initrd") }
func (m *machine) consolePath() string { return filepath.Join(m.tmp, "console") }
func (m *machine) diskPath() string    { return filepath.Join(m.tmp, "disk") }

// args returns QEMU's command line. Standard output and error arrive at file
// descriptors 3 and 4 of QEMU.
func (m *machine) args() []string {
	o := m.opt
	cpu := o.CPU
	if cpu == "" {
		cpu = o.Arch.cpu
	}
	a := []string{
		"-M", "virt", "-cpu", cpu, "-smp", strconv.Itoa(o.SMP), "-m", strconv.Itoa(o.Mem),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-seed", strconv.Itoa(o.Seed), "-rtc", "clock=vm,base=" + o.Date,
		"-kernel", filepath.Join(o.Dir, "vmlinuz"), "-initrd", m.initrdPath(),
		"-append", "console=" + o.Arch.console + " " + kernelArgs,
		"-serial", "file:" + m.consolePath(),
		"-add-fd", "fd=3,set=1", "-chardev", "file,id=out,path=/dev/fdset/1,append=on",
		"-add-fd", "fd=4,set=2", "-chardev", "file,id=err,path=/dev/fdset/2,append=on",
		"-device", "pci-serial-2x,chardev1=out,chardev2=err",
	}
	if o.Arch.bios {
		a = append(a, "-bios", filepath.Join(o.Dir, "bios"))
	}
	if o.Icount != "none" {
		a = append(a, "-icount", o.Icount)
	}
	if o.Out != "" {
		a = append(a, "-drive", "if=none,id=disk,format=raw,file="+m.diskPath(), "-device", "virtio-blk-device,drive=disk")
	}
	return a
}

// qemu returns the emulator: what setup.bash unpacked, or the system's.
func (m *machine) qemu() string {
	own := filepath.Join(m.opt.Dir, "qemu/usr/bin", m.opt.Arch.qemu)
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return m.opt.Arch.qemu
}

// boot runs the machine until it powers off and returns the program's exit
// status. It returns errTimeout when that takes too long.
func (m *machine) boot() (int, error) {
	if m.opt.Out != "" {
		if err := makeSparse(m.diskPath(), diskSize); err != nil {
			return 0, err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, m.opt.Timeout)
	defer cancel()

	var log strings.Builder
	cmd := exec.CommandContext(ctx, m.qemu(), m.args()...)
	cmd.Stdout, cmd.Stderr = &log, &log
	// The machine must not outlive this process, however it ends.
	cmd.SysProcAttr = dieWithParent()
	var copying sync.WaitGroup
	for _, dst := range []*os.File{os.Stdout, os.Stderr} {
		// A pipe rather than dst itself, for QEMU wants a descriptor that is
		// open for writing only.
		r, w, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		defer w.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, w)
		copying.Add(1)
		go func(dst *os.File) {
			defer copying.Done()
			io.Copy(dst, r)
			r.Close()
		}(dst)
	}
	err := cmd.Start()
	for _, w := range cmd.ExtraFiles {
		w.Close()
	}
	if err == nil {
		err = cmd.Wait()
	}
	copying.Wait()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return 0, errTimeout
	case ctx.Err() != nil:
		return 0, errors.New("interrupted")
	}
	return m.verdict(err, log.String())
}

// verdict finds the guest's report on its console. qemuErr and log are what
// QEMU itself had to say.
func (m *machine) verdict(qemuErr error, log string) (int, error) {
	data, err := os.ReadFile(m.consolePath())
	if err != nil && qemuErr == nil {
		return 0, err
	}
	console := strings.ReplaceAll(string(data), "\r", "")
	for _, line := range strings.Split(console, "\n") {
		if s := strings.TrimPrefix(line, guestspec.ExitMark); s != line {
			return strconv.Atoi(s)
		}
		if s := strings.TrimPrefix(line, guestspec.FailMark); s != line {
			return 0, fmt.Errorf("in the guest: %s", s)
		}
	}
	if qemuErr != nil {
		return 0, fmt.Errorf("%s: %v\n%s", m.opt.Arch.qemu, qemuErr, log)
	}
	return 0, fmt.Errorf("the guest stopped without a report; the end of its console:\n%s", tail(console+log, 20))
}

// tail returns the last n lines of s.
func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

func makeSparse(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}
