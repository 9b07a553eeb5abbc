// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Package bare uses performance events without a profiler: to count what a
// thread executes, and to sample it with the least code possible. The cost of a
// profiler is compared with it.
//
// Nothing here needs more than a stock Go: the events are those of the calling
// thread, which must be locked to its goroutine.
package bare

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// An Event is an encoding of perf_event_open(2).
type Event struct {
	Type   uint32
	Config uint64
}

var (
	Cycles       = Event{Type: 0, Config: 0}
	Instructions = Event{Type: 0, Config: 1}
	TaskClock    = Event{Type: 1, Config: 1} // nanoseconds
)

// Events are the events that can be sampled, as the profiler names them in user mode.
var Events = map[string]Event{"task-clock:u": TaskClock, "cycles:u": Cycles}

// A Mode is whose events count.
type Mode uint64

const (
	User   Mode = 1<<5 | 1<<6 // exclude_kernel, exclude_hv
	Kernel Mode = 1 << 4      // exclude_user
)

// attr is struct perf_event_attr as of PERF_ATTR_SIZE_VER5.
type attr struct {
	typ          uint32
	size         uint32
	config       uint64
	samplePeriod uint64
	sampleType   uint64
	readFormat   uint64
	bits         uint64
	wakeupEvents uint32
	bpType       uint32
	config1      uint64
	config2      uint64
	branchType   uint64
	regsUser     uint64
	stackUser    uint32
	clockid      int32
	regsIntr     uint64
	auxWatermark uint32
	maxStack     uint16
	_            uint16
}

const (
	bitDisabled     = 1 << 0
	bitInherit      = 1 << 1
	bitEnableOnExec = 1 << 12

	sampleIP         = 1 << 0
	sampleTime       = 1 << 2
	sampleIdentifier = 1 << 16

	ioctlEnable  = 0x2400
	ioctlDisable = 0x2401

	fSetOwnEx = 15
	fSetSig   = 10
	oAsync    = 0x2000
)

// open opens an event of the calling thread, on one CPU or, if that is -1, on all.
func open(e Event, a *attr, cpu int) (int, error) {
	a.typ, a.config = e.Type, e.Config
	a.size = uint32(unsafe.Sizeof(*a))
	const cloexec = 8
	minus1 := ^uintptr(0)
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(a)), 0, uintptr(cpu), minus1, cloexec, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("perf_event_open", errno)
	}
	return int(fd), nil
}

// A Counter counts an event on one thread.
type Counter struct{ fd int }

// Count starts a counter on the calling thread.
func Count(e Event, m Mode) (*Counter, error) {
	fd, err := open(e, &attr{bits: uint64(m)}, -1)
	if err != nil {
		return nil, err
	}
	return &Counter{fd}, nil
}

// Read returns the number of events since Count.
func (c *Counter) Read() uint64 {
	var n uint64
	b := (*[8]byte)(unsafe.Pointer(&n))[:]
	if k, err := syscall.Read(c.fd, b); k != 8 {
		panic(fmt.Sprintf("bare: counter cannot be read: %v", err))
	}
	return n
}

func (c *Counter) Close() { syscall.Close(c.fd) }

// What a Sampler does with each overflow.
type Action int

const (
	Ring   Action = iota // the kernel writes a record, with instruction and time, and wakes any reader
	Signal               // and sends a signal, whose handler only counts it
)

// A Sampler samples an event on one thread.
type Sampler struct {
	fd   int
	base uintptr // of the mapping
	size uintptr // of the mapping, in bytes
	old  [4]uint64
}

// signal is what Signal sends: one that like SIGPROF is no real-time signal,
// but is not Go's to handle.
const signal = syscall.SIGUSR2

// dataPages is the size of the records' area.
const dataPages = 64

// NewSampler makes a sampler of the calling thread; Start starts it. It has an
// overflow at every period events. The kernel overwrites old records.
func NewSampler(e Event, m Mode, period uint64, act Action) (*Sampler, error) {
	s, err := newSampler(e, &attr{samplePeriod: period, bits: uint64(m) | bitDisabled}, -1)
	if err != nil {
		return nil, err
	}
	if act == Signal {
		if err := s.sendSignal(); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// newSampler opens a sampler and maps its ring.
func newSampler(e Event, a *attr, cpu int) (*Sampler, error) {
	a.sampleType = sampleIdentifier | sampleIP | sampleTime
	a.wakeupEvents = 1
	fd, err := open(e, a, cpu)
	if err != nil {
		return nil, err
	}
	s := &Sampler{fd: fd, size: uintptr(1+dataPages) * uintptr(os.Getpagesize())}
	base, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, s.size, syscall.PROT_READ, syscall.MAP_SHARED, uintptr(fd), 0)
	if errno != 0 {
		syscall.Close(fd)
		return nil, os.NewSyscallError("mmap", errno)
	}
	s.base = base
	return s, nil
}

// Run runs a command with rings that the kernel writes at every period events of all
// its threads and children, and nobody reads. It returns the number of events. The
// calling thread must be locked to its goroutine, so that it is the one that forks.
func Run(cmd *exec.Cmd, e Event, m Mode, period uint64) (events uint64, err error) {
	// Inherited events can be mapped only if they are for one CPU.
	var all []*Sampler
	cpus, err := allowedCPUs()
	if err != nil {
		return 0, err
	}
	for _, cpu := range cpus {
		s, err := newSampler(e, &attr{samplePeriod: period, bits: uint64(m) | bitDisabled | bitInherit | bitEnableOnExec}, cpu)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		all = append(all, s)
	}
	err = cmd.Run()
	for _, s := range all {
		events += s.Count()
	}
	return events, err
}

// allowedCPUs returns the CPUs that the thread, and what it starts, may run on.
func allowedCPUs() (cpus []int, err error) {
	var mask [1024]byte
	n, _, errno := syscall.Syscall(syscall.SYS_SCHED_GETAFFINITY, 0, uintptr(len(mask)), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return nil, os.NewSyscallError("sched_getaffinity", errno)
	}
	for cpu := 0; cpu < int(n)*8; cpu++ {
		if mask[cpu/8]&(1<<(cpu%8)) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// sendSignal has each overflow signalled to this very thread.
func (s *Sampler) sendSignal() error {
	// The kernel's struct sigaction: handler, flags (SA_SIGINFO, SA_ONSTACK,
	// SA_RESTART), restorer, mask. All signals are blocked in the handler, as
	// in Go's own.
	act := [4]uint64{uint64(handlerPC()), 0x4 | 0x08000000 | 0x10000000, uint64(restorerPC()), ^uint64(0)}
	if act[2] != 0 {
		act[1] |= 0x04000000 // SA_RESTORER
	}
	if err := sigaction(&act, &s.old); err != nil {
		return err
	}
	owner := [2]int32{0, int32(syscall.Gettid())} // F_OWNER_TID
	for _, c := range [...]struct {
		cmd int
		arg uintptr
	}{
		{fSetOwnEx, uintptr(unsafe.Pointer(&owner))},
		{fSetSig, uintptr(signal)},
		{syscall.F_SETFL, oAsync},
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(s.fd), uintptr(c.cmd), c.arg); errno != 0 {
			return os.NewSyscallError("fcntl", errno)
		}
	}
	runtime.KeepAlive(&owner)
	return nil
}

func sigaction(act, old *[4]uint64) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(act)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("rt_sigaction", errno)
	}
	return nil
}

// Signals is how often the handler has run in this process.
func Signals() uint64 { return atomic.LoadUint64(&signals) }

func (s *Sampler) Start() { s.ioctl(ioctlEnable) }
func (s *Sampler) Stop()  { s.ioctl(ioctlDisable) }

func (s *Sampler) ioctl(cmd uintptr) {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(s.fd), cmd, 0); errno != 0 {
		panic(fmt.Sprintf("bare: ioctl %#x: %v", cmd, errno))
	}
}

// Count returns the number of events so far. It may be called with the sampler
// running.
func (s *Sampler) Count() uint64 { return (&Counter{s.fd}).Read() }

func (s *Sampler) Close() {
	syscall.Close(s.fd)
	if s.base != 0 {
		syscall.Syscall(syscall.SYS_MUNMAP, s.base, s.size, 0)
	}
	if s.old != [4]uint64{} {
		sigaction(&s.old, &[4]uint64{})
	}
}

var signals uint64 // written by the handler

func handlerPC() uintptr
func restorerPC() uintptr

// Spin executes exactly n instructions, and a few for the call, without a point
// at which the scheduler could preempt it. n is even and not 0.
//
//go:noescape
func Spin(n uint64)

// Thread returns the calling thread's number.
func Thread() int { return syscall.Gettid() }
