// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Export guts for testing.

package runtime

// A PerfTaken is a perfTaken of a thread that there is not.
type PerfTaken struct{ m m }

// Got, Left and Gap note, at a time in ns, what those without Test do.
func (t *PerfTaken) Left(now int64)  { perfLeftThread(&t.m, perfNanosToTicks(now)) }
func (t *PerfTaken) Gap(nanos int64) { perfGap(&t.m, perfNanosToTicks(nanos)) }

// Got does not read a clock of this thread: the next reading is not due.
func (t *PerfTaken) Got(now int64) {
	perfTakenOf(&t.m).until = 1<<63 - 1
	perfGotThread(nil, &t.m, perfNanosToTicks(now))
}

// Read returns for how long the thread lost its CPU while it was running, in ns, if its clocks
// are so at now.
func (t *PerfTaken) Read(now, cpu int64, tid uint64) (lost int64) {
	off, away, _ := perfTakenOf(&t.m).read(perfNanosToTicks(now), now, cpu, -1, tid, false)
	return off - away
}

// Awake reports whether the thread is known not to have slept, of two readings with numbers of sleeps.
func (t *PerfTaken) Awake(first, second int64) bool {
	for i, slept := range []int64{first, second} {
		perfTakenOf(&t.m).read(perfNanosToTicks(int64(i+1)*1e6), 0, 0, slept, 1, false)
	}
	return perfTakenOf(&t.m).awake
}

// PerfSlept returns how often the current thread has slept, or -1.
func PerfSlept() int64 { return perfSlept() }

// PerfTakenSum returns what was taken from threads that did not sleep.
func PerfTakenSum() int64 { return perfTakenSum() }

// PerfPlantTaken makes the current thread appear to have lost its CPU for so long, as of the
// latest reading of its clocks. It reports false if there is none.
func PerfPlantTaken(nanos int64) bool {
	mp := acquirem()
	if t := mp.meter.ptr(); t != nil {
		t.cpu.seq--
	}
	perfTakenOf(mp).cpu += nanos
	ok := perfTakenOf(mp).at != 0 && perfTakenOf(mp).tid == mp.procid
	releasem(mp)
	return ok
}

// PerfDropMeter takes from the current thread the page that says if it has its CPU. A reading of its
// clocks is due then.
func PerfDropMeter() {
	systemstack(func() {
		mp := getg().m
		if mp.meter != 0 {
			perfExitMeter(mp)
		}
		*perfTakenOf(mp) = perfTaken{}
	})
}

// PerfThreadClocks returns the time and the current thread's CPU time.
func PerfThreadClocks() (wall, cpu int64) { return nanotime(), perfThreadTime() }
