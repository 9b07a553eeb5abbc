// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	record "internal/task"
	"slices"
	"time"
)

// An extent is up to where a server was read. It is saved together with the counts of the ledger, so that the
// next program goes on there, wherever this one was killed. It promises:
//
//	Each record of Process that is before Read in its ring is settled: it was read, or the ledger counts it
//	as lost or too large, or counts a gap that it is in.
//
// No clock has to do with it. While New or First is there, that is so for what has come since the server
// was read first, and what it had before that is to be read to its end.
type extent struct {
	At      int64             `json:"at"`                // when it was so, in ns since 1970 by this machine's clock
	Process string            `json:"process,omitempty"` // whose rings they are
	Read    record.RingPlaces `json:"read,omitempty"`

	New   bool               `json:"new,omitempty"`   // nobody has begun to read what the server had at first
	First *record.RingPlaces `json:"first,omitempty"` // where that began

	// Removed is up to where records were removed to make room: what is before it, and not known, is not
	// written again.
	Removed record.RingPlaces `json:"removed,omitempty"`
}

// A line is how far a server is read: which answers have begun, and what that means for its extent. Nobody else
// changes these. The folder's mutex guards all of it, as it guards the ledger.
type line struct {
	f    *folder
	name string // of the server
	pace pace
	list []*reading    // those that go on, or whose records are not joined to the extent yet; the oldest first
	late chan struct{} // has an element if behind may have become true
}

// A reading is what is known of an answer while it is read: it has had all records that the server was
// asked for, or has told of their loss, from some places in the rings up to others.
type reading struct {
	begun   time.Time
	process string
	from    record.RingPlaces
	to      record.RingPlaces
	told    int64 // records that its records have said are lost
	ended   bool

	// Past says that it has what the server still had, and removed is what the extent had when that was
	// asked for.
	past    bool
	removed record.RingPlaces
}

// extent returns the line's.
func (n *line) extent() *extent {
	u := n.f.ledger.Until[n.name]
	if u == nil {
		u = new(extent)
		n.f.ledger.Until[n.name] = u
	}
	return u
}

// begin notes that a stream has begun.
func (n *line) begin(r *reading) error {
	return n.f.change(func(l *ledger) {
		if l.Until[n.name] == nil {
			*n.extent() = extent{At: r.begun.UnixNano(), Process: r.process, Read: slices.Clone(r.from), New: true}
		}
		n.process(r)
		n.list = append(n.list, r)
		n.join()
		n.wake()
	})
}

// process notes which process answers. If it is another one, nobody knows what the one before has still
// recorded.
func (n *line) process(r *reading) {
	u := n.extent()
	if u.Process == r.process {
		return
	}
	n.gap(r.begun)
	*u = extent{At: r.begun.UnixNano(), Process: r.process}
}

// gap counts a gap, from when all was settled up to a time.
func (n *line) gap(end time.Time) {
	l := &n.f.ledger
	l.Gaps++
	l.Gap += max(0, end.UnixNano()-n.extent().At)
}

// joined reports whether a reading's records follow those that are settled.
func (n *line) joined(r *reading) bool {
	u := n.extent()
	return r.process == u.Process && r.from.Within(u.Read)
}

// join moves the extent to where readings are which follow it, and forgets those that have ended.
func (n *line) join() {
	u := n.extent()
	for more := true; more; {
		more = false
		for _, r := range n.list {
			if n.joined(r) && !r.to.Within(u.Read) {
				u.Read.Raise(r.to)
				u.At, more = time.Now().UnixNano(), true
			}
		}
	}
	const most = 16 // that have broken off before what the server still has was read: to forget them is safe
	n.list = slices.DeleteFunc(n.list, func(r *reading) bool {
		return r.ended && (n.joined(r) || r.process != u.Process || len(n.list) > most)
	})
}

// streams returns how many go on, and how many of these are joined. If there are some, but none is
// joined, there may be a gap before them. If one is, it will come to where the others have begun, or break off.
func (n *line) streams() (all, joined int) {
	for _, r := range n.list {
		if !r.ended && !r.past {
			all++
			if n.joined(r) {
				joined++
			}
		}
	}
	return all, joined
}

// behind reports whether what the server still has must be read. Well is whether the server is read, and
// there is nothing left to do.
func (n *line) behind() (behind, well bool) {
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	all, joined := n.streams()
	behind = n.f.err == nil && all > 0 && (joined == 0 || n.extent().New || n.extent().First != nil)
	return behind, all > 0 && !behind
}

// wake wakes who reads what the server still has.
func (n *line) wake() {
	select {
	case n.late <- struct{}{}:
	default:
	}
}

// saw notes that a record was added to the folder. The folder is locked.
func (n *line) saw(r *reading, t *record.Task, at record.RingPlaces) error {
	lost := max(0, t.Lost.Before)
	r.told += lost
	n.f.ledger.Lost += lost
	if len(at) > 0 {
		r.to.Raise(at)
		n.join()
	}
	if time.Since(n.f.at) < n.pace.save {
		return nil
	}
	return n.f.save()
}

// end notes how a stream has ended.
func (n *line) end(r *reading, e *ending) error {
	return n.f.change(func(l *ledger) {
		e.count(l, r)
		r.to.Raise(e.to)
		r.ended = true
		if u := n.extent(); e.whole && n.joined(r) {
			u.At = max(u.At, r.begun.Add(n.pace.stream).UnixNano())
		}
		n.join()
		n.wake()
	})
}

// beginPast notes that an answer has begun with what the server still has.
func (n *line) beginPast(r *reading) error {
	return n.f.change(func(l *ledger) {
		n.process(r)
		u := n.extent()
		r.past, r.removed = true, slices.Clone(u.Removed)
		n.list = append(n.list, r)
		if u.New {
			u.New, u.First = false, &r.from
		}
	})
}

// endPast notes how it has ended. If it was whole, all before its end is settled. There is a gap if the rings
// did not reach back to what was read, nor to where the first such answer began.
func (n *line) endPast(r *reading, e *ending) error {
	return n.f.change(func(l *ledger) {
		e.count(l, r)
		r.to.Raise(e.to)
		r.ended = true
		if u := n.extent(); e.whole && r.process == u.Process {
			all, joined := n.streams()
			missing := !n.joined(r) && all > 0 && joined == 0
			if missing || u.First != nil && !r.from.Within(*u.First) {
				n.gap(r.begun)
			}
			u.First = nil
			if missing { // what is before it is in the gap
				u.Read.Raise(r.from)
			}
			n.join()
		}
		n.list = slices.DeleteFunc(n.list, func(x *reading) bool { return x == r })
		n.wake()
	})
}
