// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// A passed is why a request is sent once, whatever comes.
type passed int

const (
	notIdempotent passed = iota
	large                // its body
	full                 // is the table
	reasonsToPass
)

// A ledger counts. Its sums hold at each moment; see [Stats].
type ledger struct {
	requests, inFlight, single, hedged uint64
	attempts, resent                   uint64
	won, lost, cancelled               uint64
	byWord, byDelay, byFailure         uint64
	passed                             [reasonsToPass]uint64
	exhausted, nowhere                 uint64
	unread, warmed, swaps              uint64
}

func (l *ledger) begin() {
	l.requests++
	l.inFlight++
	l.attempts++
}

func (l *ledger) end(hedged bool) {
	l.inFlight--
	if hedged {
		l.hedged++
	} else {
		l.single++
	}
}

// loses counts the end of a duplicate that does not win.
func (l *ledger) loses(cancelled bool) {
	if cancelled {
		l.cancelled++
	} else {
		l.lost++
	}
}

// Stats is what a Transport has done since it was made. It was so at one moment:
//
//	Requests = Single + Hedged + InFlight
//	Attempts = Requests + Resent
//	Resent = Won + Lost + Cancelled + Running
//	Resent = ByWord + ByDelay + ByFailure
type Stats struct {
	Requests uint64 `json:"requests"` // that were sent
	Single   uint64 `json:"single"`   // those that have ended, and were sent once
	Hedged   uint64 `json:"hedged"`   // those that have ended, and were sent again
	InFlight uint64 `json:"inFlight"` // those without an answer yet

	Attempts uint64 `json:"attempts"`
	Resent   uint64 `json:"resent"` // attempts that were not the first one of their request

	Won       uint64 `json:"won"`       // resent, and came first
	Lost      uint64 `json:"lost"`      // resent, and answered too late, or failed
	Cancelled uint64 `json:"cancelled"` // resent, and nobody wanted an answer any more
	Running   uint64 `json:"running"`   // resent, and not yet one of these

	ByWord    uint64 `json:"byWord"`    // resent because of what a server has said
	ByDelay   uint64 `json:"byDelay"`   // resent because there was no answer in time
	ByFailure uint64 `json:"byFailure"` // resent because an attempt has failed

	NotIdempotent uint64 `json:"notIdempotent"` // requests that may not be sent twice
	Large         uint64 `json:"large"`         // requests whose body is larger than is kept
	Full          uint64 `json:"full"`          // requests beyond those that may be in flight

	Exhausted uint64 `json:"exhausted"` // times that the budget did not allow to send again
	Nowhere   uint64 `json:"nowhere"`   // times that no other server was fit for it
	Unread    uint64 `json:"unread"`    // bodies of requests that could not be read; nothing was sent
	WarmUps   uint64 `json:"warmUps"`   // copies for servers that were starting; they are no attempts
	Swaps     uint64 `json:"swaps"`     // times that another server became the active one

	Backends []BackendStats `json:"backends"`
	Kinds    []KindStats    `json:"kinds"`
}

// BackendStats is what is known of a server.
type BackendStats struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Active   bool   `json:"active"`
	State    string `json:"state"` // that it says; "unknown" if it says nothing
	Reason   string `json:"reason"`
	Avoided  bool   `json:"avoided"` // by what it says, or since nobody listened there just now
	Attempts uint64 `json:"attempts"`
}

// KindStats is what is known of a kind of requests. Times are in nanoseconds.
type KindStats struct {
	Name  string `json:"name"`
	P99   int64  `json:"p99"`   // 0: not yet known
	Delay int64  `json:"delay"` // after which one is sent again; 0: never
}

// Stats returns what t has done.
func (t *Transport) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.ledger
	s := Stats{
		Requests: l.requests, Single: l.single, Hedged: l.hedged, InFlight: l.inFlight,
		Attempts: l.attempts, Resent: l.resent,
		Won: l.won, Lost: l.lost, Cancelled: l.cancelled, Running: l.resent - l.won - l.lost - l.cancelled,
		ByWord: l.byWord, ByDelay: l.byDelay, ByFailure: l.byFailure,
		NotIdempotent: l.passed[notIdempotent], Large: l.passed[large], Full: l.passed[full],
		Exhausted: l.exhausted, Nowhere: l.nowhere,
		Unread: l.unread, WarmUps: l.warmed, Swaps: l.swaps,
	}
	for _, b := range t.backends {
		s.Backends = append(s.Backends, BackendStats{
			Name: b.Name, URL: b.URL.String(), Active: b == t.active, State: b.state(), Reason: b.status.Reason,
			Avoided: b.avoided(t.now()), Attempts: b.attempts,
		})
	}
	for _, k := range t.kinds {
		s.Kinds = append(s.Kinds, KindStats{k.name, int64(k.times.p99), int64(k.delay)})
	}
	slices.SortFunc(s.Kinds, func(a, b KindStats) int { return strings.Compare(a.Name, b.Name) })
	if k := &t.others; k.times.n > 0 || k.times.p99 > 0 {
		s.Kinds = append(s.Kinds, KindStats{k.name, int64(k.times.p99), int64(k.delay)})
	}
	return s
}

// ServeStats responds with t's Stats, as JSON.
func (t *Transport) ServeStats(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	e.Encode(t.Stats())
}
