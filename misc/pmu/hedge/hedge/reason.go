// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"fmt"
	"runtime/hazard"
	"runtime/task"
	"time"
)

// A reason is why a request is sent again.
type reason struct {
	what    cause
	backend *backend // whose answer is missing; nil is that of the last attempt
	status  hazard.Status
}

type cause int

const (
	word    cause = iota + 1 // the backend has said it
	delay                    // there is no answer in time
	failure                  // there is an error in place of an answer
)

var byDelay = reason{what: delay}

// said returns the reason to avoid b.
func (b *backend) said() reason {
	if !b.acted {
		return b.failed()
	}
	return reason{word, b, b.status}
}

func (b *backend) failed() reason { return reason{what: failure, backend: b} }

// String is such as "a stopped (GC sweep termination)".
func (r *reason) String() string {
	name := r.backend.Name
	switch r.what {
	case delay:
		return "no answer from " + name
	case failure:
		return name + " failed"
	}
	text := name + " is " + r.status.State.String()
	switch r.status.State {
	case hazard.Stopped:
		text = name + " stopped"
	case hazard.Draining:
		text = name + " drains"
	case hazard.Gone:
		text = name + " has gone"
	}
	if r.status.Reason != "" {
		text += " (" + r.status.Reason + ")"
	}
	return text
}

// note notes in the request's task, if there is one, that it was sent again, after how long and why.
func (a *attempt) note() {
	if t := task.FromContext(a.f.r.Context()); t != nil {
		t.Note("hedge", fmt.Sprintf("sent again after %s: %s", milliseconds(a.after), &a.why))
	}
}

// milliseconds has one digit below 10 ms.
func milliseconds(d time.Duration) string {
	ms := d.Seconds() * 1000
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
