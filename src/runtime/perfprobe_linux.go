// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Probing: finding out whether an event can be sampled by sampling it.
//
// A probe has nothing to do with sessions. It samples the calling thread only, sends
// no signal and writes no profile. So it may run at any time, also beside a session,
// and costs other threads nothing.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// perfProbe opens cfg's event for the current thread as a session would, and calls
// step until a sample has been taken, but not after budget nanoseconds have passed.
// It returns the number of samples, the counter's value, and whether the counter ran
// at all: if not, there was no room for it on the PMU.
//
// The caller has locked the goroutine to its thread, whose counter it is. step must
// end by itself.
//
//go:linkname perfProbe runtime/pprof.runtime_perfProbe
func perfProbe(cfg *perf.SampleConfig, budget int64, step func()) (samples, counted uint64, ran bool, f perf.Failure) {
	fd, lead := perfProbeOpen(cfg, int32(getg().m.procid))
	if fd < 0 {
		return 0, 0, false, perf.Failure{Op: perf.OpOpen, Errno: -fd}
	}
	defer perfProbeClose(fd, lead)
	var ring perfRing
	if errno := ring.open(fd, 0); errno != 0 {
		return 0, 0, false, perf.Failure{Op: perf.OpRing, Errno: errno}
	}
	defer ring.close()

	ioctl(fd, perf.IoctlEnable, 0) // can't fail for an open counter
	start := nanotime()
	for samples == 0 {
		step()
		samples = ring.samples()
		if nanotime()-start >= budget {
			break
		}
	}
	ioctl(fd, perf.IoctlDisable, 0)
	samples += ring.samples()
	counted, ran = perfProbeRead(fd)
	return samples, counted, ran || samples > 0, perf.Failure{}
}

// perfProbeCount opens cfg's event for the current thread and calls step. It returns
// the counter's value and whether the counter ran. As for perfProbe, the caller has
// locked the goroutine to its thread.
//
//go:linkname perfProbeCount runtime/pprof.runtime_perfProbeCount
func perfProbeCount(cfg *perf.SampleConfig, step func()) (counted uint64, ran bool) {
	fd, lead := perfProbeOpen(cfg, int32(getg().m.procid))
	if fd < 0 {
		return 0, false
	}
	ioctl(fd, perf.IoctlEnable, 0)
	step()
	counted, ran = perfProbeRead(fd)
	perfProbeClose(fd, lead)
	return counted, ran
}

// perfProbeRead returns what a probe's counter has counted, and whether it ran at all.
func perfProbeRead(fd int32) (counted uint64, ran bool) {
	var v struct{ value, enabled, running uint64 } // perfProbeFormat
	if n := int32(unsafe.Sizeof(v)); read(fd, noescape(unsafe.Pointer(&v)), n) != n {
		return 0, false
	}
	return v.value, v.running > 0
}

// perfProbeFormat is what read returns for a probe's counter.
const perfProbeFormat = perf.FormatTotalTimeEnabled | perf.FormatTotalTimeRunning

// perfProbeOpen is perfOpen for a probe, which shares nothing with a session. lead is the
// counter that leads the probe's, or -1.
func perfProbeOpen(cfg *perf.SampleConfig, tid int32) (fd, lead int32) {
	lead = -1
	if cfg.Leader != 0 {
		if lead = perfOpenLeader(&cfg.Attr, tid); lead < 0 {
			return lead, -1
		}
	}
	precise := cfg.Precise
	auto := precise < 0
	if auto {
		precise = perfMaxPrecise
	}
	for {
		attr := perfAttr(&cfg.Attr, precise)
		attr.samplePeriod = cfg.Period
		attr.readFormat = perfProbeFormat
		fd = perf_event_open(&attr, tid, -1, lead, perf.FlagFDCloexec)
		if fd >= 0 {
			return fd, lead
		}
		if !auto || precise == 0 {
			if lead >= 0 {
				closefd(lead)
			}
			return fd, -1
		}
		precise--
	}
}

// perfProbeClose closes what perfProbeOpen has opened.
func perfProbeClose(fd, lead int32) {
	closefd(fd)
	if lead >= 0 {
		closefd(lead)
	}
}

// samples drains the ring and returns how many samples were in it, those
// included that did not fit.
func (r *perfRing) samples() (n uint64) {
	head := r.head()
	var rec perfRecord
	for r.tail != head {
		ok := r.next(&rec, head)
		switch {
		case ok && rec.typ == perf.RecordSample:
			n++
		case ok && rec.typ == perf.RecordLost:
			n += rec.n
		}
	}
	r.consume()
	return n
}
