// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"internal/taskrecord"
	"slices"
	"time"
)

// An extent is up to where a process of a server was read. It is saved together with the counts of the ledger,
// so that the next program goes on there, wherever this one was killed. It promises:
//
//	Each record of Process that is before Read in its ring is settled: it was read, or the ledger counts it
//	as lost or too large, or counts a gap that it is in.
//
// No clock has to do with it. While New or First is there, that is so for what has come since the process
// was read first, and what it had before that is to be read to its end.
//
// The ledger counts a gap as soon as there may be one. So it has it, too, if this program ends before more is
// known. It takes the gap back once what was in it is read.
type extent struct {
	Process string                `json:"process,omitempty"` // whose rings they are; that of an older release has no name
	At      int64                 `json:"at"`                // when it was so, in ns since 1970 by this machine's clock
	Read    taskrecord.RingPlaces `json:"read,omitempty"`

	New   bool                   `json:"new,omitempty"`    // nobody has begun to read what the process had at first
	First *taskrecord.RingPlaces `json:"first,omitempty"`  // where that began
	Away  bool                   `json:"away,omitempty"`   // no stream is of this process since another one was
	Gap   *int64                 `json:"gap_ns,omitempty"` // that is counted, and may be taken back

	// Removed is up to where records were removed to make room: what is before it, and not known, is not
	// written again.
	Removed taskrecord.RingPlaces `json:"removed,omitempty"`

	app *appender
}

// processes is how many processes of a server are remembered, the ones of the latest streams. It is more than
// the answers that go on at once: three streams at most, and what the server still has.
const processes = 6

// A line is how far a server is read: which answers have begun, and what that means for its extents. Nobody else
// changes these. The folder's mutex guards all of it, as it guards the ledger.
type line struct {
	f    *folder
	url  string // of the server
	key  string // with what selects records
	pace pace
	list []*reading    // those that go on, or whose records are not joined to an extent yet; the oldest first
	late chan struct{} // has an element if behind may have become true
}

// A reading is what is known of an answer while it is read: it has had all records that the server was
// asked for, or has told of their loss, from some places in the rings up to others.
type reading struct {
	begun   time.Time
	process string
	from    taskrecord.RingPlaces
	to      taskrecord.Progress
	follows bool // its records follow those of the extent
	ended   bool

	// Past says that it has what the server still had, and removed is what the extent had when that was
	// asked for.
	past    bool
	removed taskrecord.RingPlaces
}

// extents returns those of the line, the one of the latest stream last.
func (n *line) extents() []*extent { return n.f.ledger.Extents[n.key] }

// of returns the extent of a reading that goes on, which is there.
func (n *line) of(r *reading) *extent {
	list := n.extents()
	return list[slices.IndexFunc(list, func(u *extent) bool { return u.Process == r.process })]
}

// begin notes that an answer has begun.
func (n *line) begin(r *reading) error {
	return n.f.change(func(l *ledger) {
		u := n.process(r)
		if !r.past && r.process == "" {
			// Nobody knows whether a record is between the stream before and this one.
			if all, _ := n.streams(u); all == 0 {
				u.New = true
			}
		}
		n.list = append(n.list, r)
		if r.past {
			r.removed = slices.Clone(u.Removed)
			if u.New {
				u.New, u.First = false, &r.from
			}
		}
		n.join()
		n.wake()
	})
}

// process notes which process answers, and returns its extent. What other processes have recorded since they were
// read last is in gaps until they are read again.
func (n *line) process(r *reading) *extent {
	l := &n.f.ledger
	list := n.extents()
	if at, ok := l.Last[n.url]; ok && list == nil {
		list = append(list, &extent{At: at})
	}
	i := slices.IndexFunc(list, func(u *extent) bool { return u.Process == r.process })
	if i < 0 {
		list = append(list, &extent{Process: r.process, At: r.begun.UnixNano(), Read: slices.Clone(r.from), New: true, Away: true})
		if i = len(list) - 1; i == processes {
			list, i = n.forget(list), i-1
		}
	} else if r.process == "" && !r.past {
		l.Gaps++
		l.Gap += max(0, r.begun.UnixNano()-list[i].At)
	}
	u := list[i]
	if !r.past {
		list = append(slices.Delete(list, i, i+1), u)
		for _, x := range list {
			x.Away = x != u
		}
	}
	l.Extents[n.key] = list
	return u
}

// forget forgets the first of some extents that no reading is of. Its gap stays.
func (n *line) forget(list []*extent) []*extent {
	i := slices.IndexFunc(list, func(u *extent) bool {
		return !slices.ContainsFunc(n.list, func(r *reading) bool { return !r.ended && r.process == u.Process })
	})
	if app := list[i].app; app != nil {
		app.close()
	}
	return slices.Delete(list, i, i+1)
}

// join moves extents to where readings are which follow them, and forgets those that have ended.
func (n *line) join() {
	for _, u := range n.extents() {
		for more := true; more; {
			more = false
			for _, r := range n.list {
				if r.process != u.Process {
					continue
				}
				r.follows = r.follows || r.from.Within(u.Read)
				if r.follows && !r.to.Places.Within(u.Read) {
					u.Read.Raise(r.to.Places)
					more = true
				}
			}
		}
	}
	n.list = slices.DeleteFunc(n.list, func(r *reading) bool { return r.ended && r.follows })
	const most = 16 // that have broken off before what the server still has was read: to forget them is safe
	if i := slices.IndexFunc(n.list, func(r *reading) bool { return r.ended }); i >= 0 && len(n.list) > most {
		n.list = slices.Delete(n.list, i, i+1)
	}
	for _, u := range n.extents() {
		n.count(u)
	}
}

// count counts a gap if there may be one after an extent, or takes it back.
func (n *line) count(u *extent) {
	l := &n.f.ledger
	hole := u.New || u.First != nil || u.Away || slices.ContainsFunc(n.list, func(r *reading) bool {
		return r.process == u.Process && !r.follows
	})
	switch {
	case hole && u.Gap == nil:
		gap := max(0, time.Now().UnixNano()-u.At)
		u.Gap = &gap
		l.Gaps++
		l.Gap += gap
	case !hole && u.Gap != nil:
		l.Gaps--
		l.Gap -= *u.Gap
		u.Gap = nil
	}
}

// streams returns how many of a process go on, and how many of these follow what is read. If there are some,
// but none follows, there may be a gap before them. If one does, it will come to where the others have
// begun, or break off.
func (n *line) streams(u *extent) (all, follow int) {
	for _, r := range n.list {
		if r.process == u.Process && !r.ended && !r.past {
			all++
			if r.follows {
				follow++
			}
		}
	}
	return all, follow
}

// behind reports whether what the server still has must be read. Well is whether the server is read, and
// there is nothing left to do.
func (n *line) behind() (behind, well bool) {
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	for _, u := range n.extents() {
		all, follow := n.streams(u)
		behind = behind || all > 0 && (follow == 0 || u.New || u.First != nil)
		well = well || all > 0
	}
	return behind && n.f.err == nil, well && !behind
}

// wake wakes who reads what the server still has.
func (n *line) wake() {
	select {
	case n.late <- struct{}{}:
	default:
	}
}

// saw notes that a record was added to the folder, and up to where the answer is read with it. The folder
// is locked.
func (n *line) saw(r *reading, at taskrecord.Progress) error {
	n.told(r, at)
	if r.follows && !r.past { // which has what is recorded now
		n.of(r).At = time.Now().UnixNano()
	}
	n.join()
	if time.Since(n.f.at) < n.pace.save {
		return nil
	}
	return n.f.save()
}

// told notes up to where an answer is read. The ledger counts what it says is missing.
func (n *line) told(r *reading, at taskrecord.Progress) {
	l := &n.f.ledger
	l.Lost += max(0, at.Lost-r.to.Lost)
	l.LeftOut += max(0, at.LeftOut-r.to.LeftOut)
	r.to.Lost, r.to.LeftOut = max(r.to.Lost, at.Lost), max(r.to.LeftOut, at.LeftOut)
	r.to.Places.Raise(at.Places)
}

// end notes how an answer has ended. End is nil if it broke off.
func (n *line) end(r *reading, end *taskrecord.Progress) error {
	return n.f.change(func(l *ledger) {
		r.ended = true
		if end != nil {
			n.told(r, *end)
			n.whole(r)
		}
		if r.past && !r.follows {
			n.list = slices.DeleteFunc(n.list, func(x *reading) bool { return x == r })
		}
		n.join()
		n.wake()
	})
}

// whole notes that an answer has ended which is whole. If it has what the server still had, all before its
// end is settled. There is a gap if the rings did not reach back to what was read, nor to where the first
// such answer began. That one stays.
func (n *line) whole(r *reading) {
	u := n.of(r)
	if !r.past {
		if r.follows {
			u.At = max(u.At, r.begun.Add(n.pace.stream).UnixNano())
		}
		return
	}
	_, follow := n.streams(u)
	missing := !r.follows && follow == 0
	if missing || u.First != nil && !r.from.Within(*u.First) {
		u.Gap = nil
	}
	if u.First = nil; missing { // what is before it is in the gap
		u.Read.Raise(r.from)
	}
	if missing || r.follows {
		u.At = max(u.At, r.begun.UnixNano())
	}
}

// close closes the files of records.
func (n *line) close() (err error) {
	for _, u := range n.extents() {
		if u.app != nil {
			err = u.app.close()
		}
	}
	return err
}
