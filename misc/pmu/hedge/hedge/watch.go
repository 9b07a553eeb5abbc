// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/hazard"
	"time"
)

// A Source says what state a server is in. [hazard.Watcher] is one; [File] and [Stream] outlive the process
// that they watch.
type Source interface {
	// Wait waits until something else holds than after, and returns that. For the zero Status it
	// returns at once what holds. The error is ctx's if that ends first. Another error
	// means that nothing is known; Wait is called again after a tenth of a second.
	Wait(ctx context.Context, after hazard.Status) (hazard.Status, error)
}

// lookAgain is after how long a source is asked again that knows nothing.
const lookAgain = 100 * time.Millisecond

// watch follows what b says, until t is closed.
func (t *Transport) watch(b *backend) {
	if c, ok := b.Source.(io.Closer); ok {
		defer c.Close()
	}
	var last hazard.Status
	logged := ""
	for {
		s, err := b.Source.Wait(t.ctx, last)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			if text := err.Error(); text != logged {
				logged = text
				t.c.ErrorLog.Printf("hedge: %s says nothing: %s", b.Name, text)
			}
			// A process that has ended says no more, and is still gone.
			if last.State != hazard.Gone || !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, os.ErrNotExist) {
				last = hazard.Status{}
				t.set(b, last, false, false)
			}
			if !t.pause(lookAgain) {
				return
			}
			continue
		}
		logged = ""
		last = s
		after, ok := t.acts(s)
		t.set(b, s, true, ok && after <= 0)
		if ok && after > 0 && t.lasts(b, s, after) {
			t.set(b, s, true, true)
		}
	}
}

// acts returns for how long s must last, if it is a reason to act. Two states may hold: a
// program that drains is stopped now and then.
func (t *Transport) acts(s hazard.Status) (after time.Duration, ok bool) {
	after, ok = t.c.Act(s)
	if s.Program != s.State && s.State != hazard.Gone {
		s.State = s.Program
		if own, also := t.c.Act(s); also && (!ok || own < after) {
			return own, also
		}
	}
	return after, ok
}

// lasts reports whether nothing else than s has held for some time since s began.
func (t *Transport) lasts(b *backend, s hazard.Status, after time.Duration) bool {
	after -= min(max(time.Since(s.Since), 0), after)
	ctx, cancel := context.WithTimeout(t.ctx, after)
	defer cancel()
	_, err := b.Source.Wait(ctx, s)
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// pause waits, and reports whether t is still open.
func (t *Transport) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}
