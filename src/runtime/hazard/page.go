// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The page, and how others' pages are read: nothing is believed.
//
// It has 4096 bytes. Numbers are little-endian, times are in nanoseconds of the monotonic clock
// if nothing else is said. What is not listed is zero.
//
//	   0  magic    8 bytes, "gohazard"
//	   8  version  uint32, 1
//	  12  size     uint32, 4096
//	  16  pid      uint32, in its namespace
//	  24  start    uint64, of the process in ticks since the machine started, as in /proc/PID/stat
//	  32  pidns    uint64, the inode of its PID namespace
//	  40  begin    int64, when the page was published
//
//	  64  changes  uint32, the low half of the last change's number; who waits, waits for this word
//	  68  beat     uint32, when goroutines ran last, in milliseconds: when it was published, and while
//	               somebody waits
//
//	 128           64 bytes for what the processors of the program do; not used yet
//
//	 256  totals   two of 128 bytes: for changes with an even number, and with an odd one
//	        0      seven uint64, how often each state has begun
//	       56      seven int64, for how long each state has lasted, up to since
//	      112      int64, since: when the state of the last change began
//
//	 512  ring     32 changes of 64 bytes: number N is at N mod 32
//	        0      uint64, the number, from 1
//	        8      int64, its time
//	       16      uint8, the state; uint8, the program's; uint8, the length of the reason
//	       24      40 bytes, the reason
//
// A writer fills the ring's place and the totals of the next change, and then sets changes. A
// reader reads changes, the page, and changes again. If it is the same, what the page has of this
// change is whole: nobody has begun to write the second change after it. A writer that is stopped
// in the middle makes no reader wait.
//
// A process that publishes holds a lock on the file's first byte (F_OFD_SETLK, F_WRLCK). Who waits
// holds one on the second (F_RDLCK). If the first lock is free, nobody publishes any more: the process has
// ended, or executes another program. Before execve the state is Stopped, with the reason "execve".

package hazard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

const (
	pageSize    = 4096
	pageMagic   = "gohazard"
	pageVersion = 1
	maxReason   = 40

	offChanges = 64
	offBeat    = 68
	offTotals  = 256
	offRing    = 512

	totalsSize = 128
	changeSize = 64
	ringSize   = 32
)

// Bytes of the file that are locked.
const (
	lockPublisher = 0
	lockWaiter    = 1
)

// An identity is who publishes.
type identity struct {
	pid   int
	start uint64 // in ticks since the machine started
	pidns uint64
	begin int64 // when the page was published
}

// line returns the page's first line.
func (id *identity) line() (line [64]byte) {
	b := line[:]
	copy(b, pageMagic)
	binary.LittleEndian.PutUint32(b[8:], pageVersion)
	binary.LittleEndian.PutUint32(b[12:], pageSize)
	binary.LittleEndian.PutUint32(b[16:], uint32(id.pid))
	binary.LittleEndian.PutUint64(b[24:], id.start)
	binary.LittleEndian.PutUint64(b[32:], id.pidns)
	binary.LittleEndian.PutUint64(b[40:], uint64(id.begin))
	return line
}

// parseIdentity reads a page's first line.
func parseIdentity(b []byte) (id identity, err error) {
	if string(b[:8]) != pageMagic {
		return id, errors.New("is not a page of a program's state")
	}
	version, size := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if version != pageVersion || size != pageSize {
		return id, fmt.Errorf("is a page of version %d with %d bytes, want version %d with %d: build both programs with one release", version, size, pageVersion, pageSize)
	}
	id.pid = int(int32(binary.LittleEndian.Uint32(b[16:])))
	id.start = binary.LittleEndian.Uint64(b[24:])
	id.pidns = binary.LittleEndian.Uint64(b[32:])
	id.begin = int64(binary.LittleEndian.Uint64(b[40:]))
	if id.pid <= 0 {
		return id, errDamaged
	}
	return id, nil
}

var errDamaged = errors.New("is damaged: something else has written into it")

// A rawChange is a change with times of the monotonic clock.
type rawChange struct {
	number         uint64
	time           int64
	state, program State
	reason         string
}

// parseChange reads the change with the number, if the ring has that.
func parseChange(page []byte, number uint64) (c rawChange, there bool, err error) {
	b := page[offRing+int(number%ringSize)*changeSize:][:changeSize]
	c.number = binary.LittleEndian.Uint64(b)
	if c.number != number {
		return c, false, nil
	}
	c.time = int64(binary.LittleEndian.Uint64(b[8:]))
	c.state, c.program = State(b[16]), State(b[17])
	n := int(b[18])
	if c.state >= states || !c.program.settable() || n > maxReason {
		return c, false, errDamaged
	}
	c.reason = string(b[24:][:n])
	if !plain(c.reason) {
		return c, false, errDamaged
	}
	return c, true, nil
}

// A rawStatus is what a page says of one moment.
type rawStatus struct {
	rawChange
	since int64
	count [states]uint64
	nanos [states]int64 // up to since
	beat  uint32
}

// lastNumber returns the number of the last change, whose low half is changes. The rest is in the
// ring only.
func lastNumber(page []byte, changes uint32) uint64 {
	return binary.LittleEndian.Uint64(page[offRing+int(changes%ringSize)*changeSize:])
}

// parseStatus reads a page whose last change has a number with this low half.
func parseStatus(page []byte, changes uint32) (s rawStatus, err error) {
	number := lastNumber(page, changes)
	if number == 0 || uint32(number) != changes {
		return s, errDamaged
	}
	if s.rawChange, _, err = parseChange(page, number); err != nil {
		return s, err
	}
	t := page[offTotals+int(number%2)*totalsSize:]
	for i := range s.count {
		s.count[i] = binary.LittleEndian.Uint64(t[8*i:])
		s.nanos[i] = int64(binary.LittleEndian.Uint64(t[8*(states+i):]))
	}
	s.since = int64(binary.LittleEndian.Uint64(t[16*states:]))
	s.beat = binary.LittleEndian.Uint32(page[offBeat:])
	return s, nil
}

// parseChanges reads the changes after one. missed is how many the ring has lost.
func parseChanges(page []byte, changes uint32, after uint64) (list []rawChange, missed uint64, err error) {
	last := lastNumber(page, changes)
	if last == 0 || uint32(last) != changes {
		return nil, 0, errDamaged
	}
	if after >= last {
		return nil, 0, nil
	}
	// A writer may be in the middle of the next one, in the place of the oldest.
	first := uint64(1)
	if last > ringSize-1 {
		first = last - (ringSize - 2)
	}
	if after+1 < first {
		missed = first - (after + 1)
	} else {
		first = after + 1
	}
	for n := first; n <= last; n++ {
		c, there, err := parseChange(page, n)
		if err != nil {
			return nil, 0, err
		}
		if !there {
			return nil, 0, errDamaged
		}
		list = append(list, c)
	}
	return list, missed, nil
}

// plain reports whether a reason can be shown anywhere.
func plain(s string) bool {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return false
		}
	}
	return utf8.ValidString(s)
}

// A clock converts times of the monotonic clock.
type clock struct {
	wall time.Time
	mono int64
}

func (c clock) time(mono int64) time.Time { return c.wall.Add(time.Duration(mono - c.mono)) }

// status returns the status now, by c. The state has lasted until then.
func (s *rawStatus) status(id *identity, c clock) Status {
	t := Status{State: s.state, Reason: s.reason, Since: c.time(s.since), Program: s.program, Number: s.number, PID: id.pid, count: s.count}
	for i, n := range s.nanos {
		t.time[i] = time.Duration(n)
	}
	t.time[s.state] += time.Duration(max(c.mono-s.since, 0))
	return t
}

// end has s be that of a process that ended at a time.
func (s *Status) end(raw *rawStatus, at, c clock) {
	if s.State == Gone {
		return
	}
	left := time.Duration(max(c.mono-max(at.mono, raw.since), 0))
	s.time[s.State] -= left
	s.State, s.Reason, s.Since = Gone, "the process has ended", at.wall
	s.time[Gone] += left
	s.count[Gone]++
}

func (c *rawChange) change(k clock) Change {
	return Change{Number: c.number, Time: k.time(c.time), State: c.state, Program: c.program, Reason: c.reason}
}
