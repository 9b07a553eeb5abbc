// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"net/http"
	"path"
	"sync"
	"testing"
	"time"
)

// A notebook has what handlers and middlewares have seen, by case: requests may be served
// at the same time, as those are that a server has pushed.
type notebook struct {
	mu      sync.Mutex
	lines   map[string][]string
	running int // handlers
	served  int // requests that came to the handler of a case
	wrapped int // and to TaskHandler, as far as it is not the server's handler
}

// caseOf returns the name of the case that a request is for.
func caseOf(r *http.Request) string { return path.Base(r.URL.Path) }

func (n *notebook) note(r *http.Request, format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lines == nil {
		n.lines = make(map[string][]string)
	}
	n.lines[caseOf(r)] = append(n.lines[caseOf(r)], fmt.Sprintf(format, args...))
}

// watch has take wait for h.
func (n *notebook) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.add(&n.running, 1)
		defer n.add(&n.running, -1)
		h.ServeHTTP(w, r)
	})
}

func (n *notebook) add(to *int, d int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*to += d
}

// take returns what was noted since it was called last, when all handlers have returned:
// that may be after the client has got the answer.
func (n *notebook) take(t *testing.T) map[string][]string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Microsecond) {
		n.mu.Lock()
		running, lines := n.running, n.lines
		if running == 0 {
			n.lines = nil
		}
		n.mu.Unlock()
		if running == 0 {
			return lines
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d handlers have not returned: %q", running, lines)
		}
	}
}
