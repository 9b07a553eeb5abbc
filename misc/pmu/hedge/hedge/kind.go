// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"net/http"
	"strings"
	"time"
)

// maxKinds is how many kinds are told apart.
const maxKinds = 64

// A kindName is a kind's name, without the need to put it together for each request.
type kindName struct{ method, path string }

func (n kindName) String() string {
	if n.method == "" {
		return n.path
	}
	return n.method + " " + n.path
}

// pathKind is the kind of a request by its method and the first element of its path.
func pathKind(r *http.Request) kindName {
	n := kindName{r.Method, r.URL.Path}
	if n.method == "" {
		n.method = http.MethodGet
	}
	if i := strings.IndexByte(strings.TrimPrefix(n.path, "/"), '/'); i >= 0 {
		n.path = n.path[:i+1]
	}
	return n
}

// A kind is requests that take about as long as each other. The table's lock guards it.
type kind struct {
	name  string
	times times
	delay time.Duration // after which one is sent again, or 0

	// waiting are those that may become late, the oldest first. timer is set, if armed, to no
	// later than the first of them does. Often that one has ended by then: so there is not a timer for
	// each request.
	waiting list
	timer   *time.Timer
	armed   bool
}

// observe counts the time that an attempt took.
func (t *Transport) observe(k *kind, d time.Duration) {
	if k.times.add(d) {
		k.delay = t.c.Delay(k.name, k.times.p99)
	}
}

// kindName returns the name of a request's kind.
func (t *Transport) kindName(r *http.Request) kindName {
	if t.c.Kind != nil {
		return kindName{path: t.c.Kind(r)}
	}
	return pathKind(r)
}

// kindOf returns a kind by its name. The caller has locked t.
func (t *Transport) kindOf(name kindName) *kind {
	if k := t.kinds[name]; k != nil {
		return k
	}
	if len(t.kinds) >= maxKinds {
		return &t.others
	}
	// The name may be a part of a long request.
	name = kindName{strings.Clone(name.method), strings.Clone(name.path)}
	k := &kind{name: name.String()}
	k.delay = t.c.Delay(k.name, 0)
	t.kinds[name] = k
	return k
}

// wait has f sent again when it is late. The caller has locked t.
func (t *Transport) wait(k *kind, f *flight) {
	if k.delay <= 0 || t.closed {
		return
	}
	// The delay may have been longer before, for those that came before. Then this one may be sent
	// again later than it had to be.
	f.due = f.began + k.delay
	k.waiting.push(&f.waiting)
	if k.armed {
		return
	}
	k.armed = true
	if k.timer == nil {
		k.timer = time.AfterFunc(k.delay, func() { t.late(k) })
	} else {
		k.timer.Reset(k.delay)
	}
}

// late sends again what is late.
func (t *Transport) late(k *kind) {
	var again []*attempt
	t.mu.Lock()
	now := t.now()
	k.armed = false
	for n := k.waiting.first(); n != nil; n = k.waiting.first() {
		if f := n.flight; f.due > now {
			k.armed = !t.closed
			if k.armed {
				k.timer.Reset(f.due - now)
			}
			break
		}
		n.remove()
		if a := t.again(n.flight, byDelay); a != nil {
			again = append(again, a)
		}
	}
	t.mu.Unlock()
	start(again)
}
