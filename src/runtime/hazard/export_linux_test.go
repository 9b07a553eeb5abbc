// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"errors"
)

// Nanotime is the clock of pages.
func Nanotime() int64 { return runtime_nanotime() }

// WaitHeard waits with w after s until beats are heard.
func WaitHeard(ctx context.Context, w *Watcher, s Status) error {
	for range 1000 {
		ctx, cancel := context.WithTimeout(ctx, 2*beatEvery)
		next, err := w.Wait(ctx, s)
		cancel()
		if err == nil {
			s = next
		} else if !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		w.reading.Lock()
		heard := w.quiet.heard && w.quiet.looks == 0
		w.reading.Unlock()
		if heard {
			return nil
		}
	}
	return errors.New("no beat is heard")
}
