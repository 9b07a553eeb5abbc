// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

// A Taken is for how long threads had no CPU, and what the kernel says of why. The kernel's numbers
// are of the program or of the machine, not of a task. They add up from some time on.
type Taken struct {
	Preempted time.Duration // while their goroutines worked for tasks, and did not sleep

	// Of all threads of the program, and of others in its control group, over all CPUs.
	Throttled time.Duration // the group had used up its quota
	Delay     time.Duration // threads of the program were ready and had none, for the quota or others

	Stolen time.Duration // by a hypervisor, from all CPUs of the machine

	Known TakenKnown // which of these the kernel has said
}

// TakenKnown is a set of what is known of a [Taken].
type TakenKnown uint8

const (
	ThrottledKnown TakenKnown = 1 << iota
	DelayKnown
	StolenKnown

	allTakenKnown = ThrottledKnown | DelayKnown | StolenKnown
)

// Since returns what was taken since t was o. The threads' delays are those of threads that there are,
// so the sum can become less.
func (t Taken) Since(o Taken) Taken {
	return Taken{
		Preempted: max(t.Preempted-o.Preempted, 0),
		Throttled: max(t.Throttled-o.Throttled, 0),
		Delay:     max(t.Delay-o.Delay, 0),
		Stolen:    max(t.Stolen-o.Stolen, 0),
		Known:     t.Known & o.Known,
	}
}

// Plus returns the sum of what was taken in two times. What is not known of one is not known.
func (t Taken) Plus(o Taken) Taken {
	if t == (Taken{}) {
		return o
	}
	return Taken{t.Preempted + o.Preempted, t.Throttled + o.Throttled, t.Delay + o.Delay, t.Stolen + o.Stolen, t.Known & o.Known}
}

// minTaken is less than what a cause is named for.
const minTaken = 10 * time.Millisecond

// cause returns what took most of t.Preempted for certain, in words, or the empty string. The numbers do not say
// whose the waits were. So what the others have at most must leave more than half of
// it, and what is named must have as much.
func (t Taken) cause() string {
	if t.Known != allTakenKnown || t.Preempted < minTaken {
		return ""
	}
	if t.Delay+t.Stolen < t.Preempted*9/10 {
		return "" // it was no wait for a CPU, or by threads that there are no more
	}
	half := t.Preempted / 2
	queue := max(t.Delay-t.Throttled, 0) // a group that is stopped has a thread that waits
	switch {
	case t.Throttled > half && t.Preempted-queue-t.Stolen > half:
		return "the quota"
	case queue > half && t.Preempted-t.Throttled-t.Stolen > half:
		return "other threads, of this program or another"
	case t.Stolen > half && t.Preempted-t.Delay > half:
		return "the hypervisor"
	}
	return ""
}

// Words returns t in sentences.
func (t Taken) Words() string {
	s := "Threads that worked for tasks had no CPU for " + Duration(t.Preempted) + ", and did not sleep."
	if t.Known == 0 {
		return s
	}
	s += " In the same time"
	sep := " "
	for _, x := range []struct {
		known        TakenKnown
		before, what string
		d            time.Duration
	}{
		{ThrottledKnown, "the CPU quota has stopped the program's control group for ", " (a sum over CPUs)", t.Throttled},
		{DelayKnown, "all threads of the program have waited for a CPU for ", "", t.Delay},
		{StolenKnown, "a hypervisor has taken ", " from all CPUs", t.Stolen},
	} {
		if t.Known&x.known != 0 {
			s += sep + x.before + Duration(x.d) + x.what
			sep = ", "
		}
	}
	s += "."
	if c := t.cause(); c != "" {
		s += " So most of it was " + c + "."
	}
	return s
}

var errNotThere = errors.New("task: the number is not there")

// ParseThrottled returns for how long a control group was throttled, by its cpu.stat: throttled_time in ns in
// version 1, and throttled_usec in version 2. A group without a quota may have neither, and
// was not throttled; but its file has lines.
func ParseThrottled(b []byte) (time.Duration, error) {
	lines := 0
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) != 2 {
			continue
		}
		lines++
		switch string(f[0]) {
		case "throttled_time":
			return parseTaken(f[1], time.Nanosecond)
		case "throttled_usec":
			return parseTaken(f[1], time.Microsecond)
		}
	}
	if lines == 0 {
		return 0, errNotThere
	}
	return 0, nil
}

// ParseDelay returns for how long a thread was ready and had no CPU, by its file schedstat: the
// second number, in ns. A kernel that does not count has three zeros there.
func ParseDelay(b []byte) (time.Duration, error) {
	f := bytes.Fields(b)
	if len(f) != 3 || string(f[0]) == "0" && string(f[1]) == "0" && string(f[2]) == "0" {
		return 0, errNotThere
	}
	return parseTaken(f[1], time.Nanosecond)
}

// ParseStolen returns what a hypervisor has taken from all CPUs, by /proc/stat: the eighth number
// of the line cpu, in units that are a hundredth of a second to programs on all machines.
func ParseStolen(b []byte) (time.Duration, error) {
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) > 8 && string(f[0]) == "cpu" {
			return parseTaken(f[8], 10*time.Millisecond)
		}
	}
	return 0, errNotThere
}

func parseTaken(b []byte, unit time.Duration) (time.Duration, error) {
	n, err := strconv.ParseUint(string(b), 10, 63)
	if err != nil {
		return 0, err
	}
	if n > uint64(1<<63-1)/uint64(unit) {
		return 0, strconv.ErrRange
	}
	return time.Duration(n) * unit, nil
}

// maxTaken bounds what marks say, so that sums do not wrap.
const maxTaken = 1 << 60

// taken codes a Taken. What is read may come from anywhere.
func (c *coder) taken(t *Taken) {
	unsigned(c, &t.Known)
	for _, d := range []*time.Duration{&t.Preempted, &t.Throttled, &t.Delay, &t.Stolen} {
		if signed(c, d); *d < 0 || *d > maxTaken {
			c.fail(errMalformed)
		}
	}
}
