// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// MaxClock is how many servers a [Clock] can hold.
const MaxClock = 8

// A Clock is a vector clock: for each server that has worked for a request, how many
// events have happened there, as far as it is known. It is a value; the zero Clock is
// that of a request of which nothing has happened yet.
//
// # Model
//
// To a request, a server is one process, in the sense of Lamport (Time, Clocks, and the
// Ordering of Events in a Distributed System, 1978) and Mattern (Virtual Time and Global
// States of Distributed Systems, 1988): its events there have an order, that in which they
// happen, whichever goroutines they are of. A clock has one entry per server, and so can't
// say more: no entry could keep apart what two goroutines of a server do at a time. It
// doesn't have to, as tasks that overlap are not ordered: each has an event at its begin and
// one at its end, and one task has happened before another one if its end has happened before
// the other's begin.
//
// So there is one clock per request and server, a [Local], which all tasks of the request
// on that server share, children and concurrent ones included:
//
//   - Begin: a task that works on a message from elsewhere first merges the clock that
//     came with it. Every task then ticks, and takes the clock as its Before.
//   - Send: a message to another server carries the clock as it is. It is no tick:
//     what has no record needs no number of its own.
//   - Receive: the clock of an answer is merged. It is no tick either.
//   - End: the task ticks, and takes the clock as its After. If the answer to a message
//     carries a clock, it is this one: a server's task ends, to clocks, where its answer
//     begins, and does not tick again when it has done the rest.
//   - Handing work to a goroutine of the same server, and waiting for it, is none of these:
//     they share the clock.
//
// Then Before of clocks is exactly the order in which tasks can have influenced each other: a
// task's After is at or before another one's Before if, and only if, there is a path from
// that end to that begin, of events on a server in their order, and of messages. The time
// that servers show plays no part in it. (Events that tick have clocks that differ. If f's
// clock has at least e's count of e's server, that can only have come to f from e, or from
// later on e's server.)
//
// Two conditions are the recorder's to keep. A request's events on a server must not have
// the same count, neither if the request comes there twice at a time, nor if it comes back
// when its Local is gone: [Local.Init] has a remedy. And no two servers may have one ID; one
// that is restarted should get a new one.
//
// If a request has two Locals on a server, which share their counts, then of the order that
// is between the two, and that messages have not made, something can be missing; none is
// made up. [Record.HappenedBefore] misses less of it: nothing if both tasks are that server's.
//
// # Overflow
//
// Events of servers for which there was no room are not counted, and the clock, and all
// that come to know of it, are flagged. Then c.Before(o) may be true where there is no order
// if c has overflowed, as c's own event need not be in c; and false where there is one if o
// has. The other answers are certain. [Record.HappenedBefore] is certain whenever it is true.
type Clock struct {
	N        uint8 // entries in use
	Overflow bool  // of a server for which there was no room, or of a count

	// Entry is sorted by server, and zero where it is not in use, so that == compares clocks.
	Entry [MaxClock]ClockEntry
}

// A ClockEntry is one server's.
type ClockEntry struct {
	Server uint16 // neither 0 nor 65535
	Count  uint32 // not 0
}

// entries returns the entries in use. A Clock that the program has made up may be wrong.
func (c *Clock) entries() []ClockEntry { return c.Entry[:min(int(c.N), MaxClock)] }

func validServer(server uint16) bool { return server != 0 && server != math.MaxUint16 }

// Tick counts an event on a server. If there is no room for the server, or for the count,
// it sets Overflow. 0 and 65535 are the IDs of no server: Tick then does nothing.
func (c *Clock) Tick(server uint16) { c.advance(server, 0) }

// advance counts an event on a server, as its count'th there at least.
func (c *Clock) advance(server uint16, count uint64) {
	if !validServer(server) {
		return
	}
	e := c.entries()
	i := 0
	for i < len(e) && e[i].Server < server {
		i++
	}
	if i == len(e) || e[i].Server != server {
		if len(e) == MaxClock {
			c.Overflow = true
			return
		}
		copy(c.Entry[i+1:], e[i:])
		c.Entry[i] = ClockEntry{Server: server}
		c.N++
	}
	count = max(count, uint64(c.Entry[i].Count)+1)
	if count > math.MaxUint32 {
		count = math.MaxUint32
		c.Overflow = true
	}
	c.Entry[i].Count = uint32(count)
}

// Merge adds to c what o knows: of each server the greater count.
//
// Merge is commutative, associative and idempotent. It is so even if there is no room for
// all: then the servers with the smallest IDs stay, whichever clock they came from. But then c
// and o are no longer before the result.
func (c *Clock) Merge(o *Clock) {
	a, b := c.entries(), o.entries()
	m := Clock{Overflow: c.Overflow || o.Overflow}
	for len(a) > 0 || len(b) > 0 {
		if m.N == MaxClock {
			m.Overflow = true
			break
		}
		e := &m.Entry[m.N]
		m.N++
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Server < b[0].Server:
			*e, a = a[0], a[1:]
		case len(a) == 0 || b[0].Server < a[0].Server:
			*e, b = b[0], b[1:]
		default:
			*e = ClockEntry{a[0].Server, max(a[0].Count, b[0].Count)}
			a, b = a[1:], b[1:]
		}
	}
	*c = m
}

// Before reports whether c is before or at o: whether every entry of c is at most o's, and o
// has overflowed if c has. A clock is before itself.
//
// Both must be of the same request. The clock of a task that had no server ID says
// nothing: the zero Clock is before all clocks. So ask for tasks with [Record.HappenedBefore].
//
// Before is a partial order of clocks, with Overflow too: it is reflexive, antisymmetric
// (clocks that are before each other are ==) and transitive. A clock is before what it is
// after a tick or, if there is room, a merge. [Clock] says what an overflow does to answers.
func (c *Clock) Before(o *Clock) bool {
	if c.Overflow && !o.Overflow {
		return false
	}
	b := o.entries()
	for _, e := range c.entries() {
		for len(b) > 0 && b[0].Server < e.Server {
			b = b[1:]
		}
		if len(b) == 0 || b[0].Server != e.Server || b[0].Count < e.Count {
			return false
		}
	}
	return true
}

// Concurrent reports whether neither clock is before the other. Equal clocks are not
// concurrent.
func (c *Clock) Concurrent(o *Clock) bool { return !c.Before(o) && !o.Before(c) }

// count returns the entry of a server, or 0.
func (c *Clock) count(server uint16) uint32 {
	for _, e := range c.entries() {
		if e.Server == server {
			return e.Count
		}
	}
	return 0
}

// HappenedBefore reports whether it is known that t ended before u began, by the clocks and
// as [Clock] says. It is false if they are of different requests, or clocks don't have t's
// end: because its server has no ID, or of an overflow.
//
// A task that goes on when its answer has begun has happened before children that it then
// starts: look at Parent too.
func (t *Record) HappenedBefore(u *Record) bool {
	if t.Server == nil || !validServer(t.Server.ID) || t.Trace != u.Trace || t.Trace.IsZero() {
		return false
	}
	// No other event has this count, unless it is where counts end, so whoever knows of
	// it knows of t's end. That doesn't need entries that an overflow has cost.
	n := t.After.count(t.Server.ID)
	return n != 0 && n != math.MaxUint32 && n <= u.Before.count(t.Server.ID)
}

// A clock's binary form is a byte, the number of its entries and a flag, and the entries, in the
// order of their servers: two bytes for the server, four for the count, big-endian.
const (
	clockOverflow  = 0x80 // the flag
	clockEntrySize = 6
	maxClockSize   = 1 + MaxClock*clockEntrySize
)

var (
	errClockEmpty  = errors.New("task: clock has no bytes: it takes at least one")
	errClockFlags  = errors.New("task: clock has unknown flags or too many entries: at most 8 can be")
	errClockSize   = errors.New("task: clock is cut short, or something follows it: each entry takes 6 bytes")
	errClockServer = errors.New("task: clock has an entry of server 0 or 65535, which are not valid IDs")
	errClockOrder  = errors.New("task: clock's entries are not in ascending order of servers")
	errClockCount  = errors.New("task: clock has an entry that counts nothing: leave it out")
	errClockUnused = errors.New("task: clock is not zero beyond its entries: set N, or clear them")
)

// check returns what is wrong with a clock that Tick and Merge haven't made.
func (c *Clock) check() error {
	if c.N > MaxClock {
		return errClockFlags
	}
	last := uint16(0)
	for _, e := range c.entries() {
		switch {
		case !validServer(e.Server):
			return errClockServer
		case e.Server <= last:
			return errClockOrder
		case e.Count == 0:
			return errClockCount
		}
		last = e.Server
	}
	for _, e := range c.Entry[c.N:] {
		if e != (ClockEntry{}) {
			return errClockUnused
		}
	}
	return nil
}

// AppendBinary implements [encoding.BinaryAppender]. What it appends, at most 49 bytes, is
// for [ParseClock]. It is an error if c is not what Tick, Merge and ParseClock make: sorted,
// for example.
func (c Clock) AppendBinary(b []byte) ([]byte, error) {
	if err := c.check(); err != nil {
		return b, err
	}
	head := c.N
	if c.Overflow {
		head |= clockOverflow
	}
	b = append(b, head)
	for _, e := range c.entries() {
		b = binary.BigEndian.AppendUint16(b, e.Server)
		b = binary.BigEndian.AppendUint32(b, e.Count)
	}
	return b, nil
}

// ParseClock returns the clock whose binary form is b. No two forms are of one clock: others
// than those that AppendBinary makes are errors.
func ParseClock(b []byte) (Clock, error) {
	if len(b) == 0 {
		return Clock{}, errClockEmpty
	}
	c := Clock{N: b[0] &^ clockOverflow, Overflow: b[0]&clockOverflow != 0}
	b = b[1:]
	if c.N > MaxClock {
		return Clock{}, errClockFlags
	}
	if len(b) != int(c.N)*clockEntrySize {
		return Clock{}, errClockSize
	}
	for i := range c.entries() {
		c.Entry[i] = ClockEntry{binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])}
		b = b[clockEntrySize:]
	}
	if err := c.check(); err != nil {
		return Clock{}, err
	}
	return c, nil
}

// String returns the counts by server, as in "{1:3 7:2}", with "..." if the clock has
// overflowed.
func (c Clock) String() string {
	b := []byte{'{'}
	for i, e := range c.entries() {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(e.Server), 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(e.Count), 10)
	}
	if c.Overflow {
		if c.N > 0 {
			b = append(b, ' ')
		}
		b = append(b, "..."...)
	}
	return string(append(b, '}'))
}
