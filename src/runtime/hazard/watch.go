// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"context"
	"fmt"
)

// A Watcher reads the page of a process, or waits for it to change. Its methods may be called by
// several goroutines at once. A page may have any contents: what can't be right is an error. A zero
// Watcher is closed.
type Watcher struct{ watcher }

// Open opens the page that a process publishes in a file. If file is empty, that is the page of this
// process.
//
// The file must belong to the user of this process, unless that is root, and to nobody else: its mode
// must be 0600. The error is [os.ErrProcessDone] if the process that
// published has ended, and [io/fs.ErrNotExist] if there is no file, or if
// this process publishes nothing. Processes of another PID
// namespace, as in another container, can't be watched: nobody would tell of their end. Nor can those of
// another time namespace whose clock is ahead. A Watcher can't be used in a bubble of [testing/synctest].
func Open(file string) (*Watcher, error) {
	w := new(Watcher)
	if err := w.open(file); err != nil {
		return nil, fmt.Errorf("hazard: %w", err)
	}
	return w, nil
}

// Status returns what the page says now. It takes some microseconds.
func (w *Watcher) Status() (Status, error) {
	s, err := w.status()
	if err != nil {
		return s, fmt.Errorf("hazard: %w", err)
	}
	return s, nil
}

// Wait waits until the page has had a change after the one that made a status, or says something
// else than that. It then returns what it says now; see [Watcher.Changes] for what has been in between. For the
// zero Status it returns at once. After Gone nothing follows: the error is [os.ErrProcessDone]. It is the
// context's if that ends first.
//
// Wait also finds stops that the process does not know of. While somebody waits, from the first
// second on, a goroutine of the process writes each 10 ms that goroutines run. A Watcher that has looked three
// times and seen nothing new, or for a second and never seen anything, asks the kernel. The status
// is Stopped, with a reason that begins
// with "silent", if a signal or a tracer stops the process, or if a thread of it is ready to run and
// the process gets no CPU time. The reason ends with "quota" if the quota of the process's own control
// group has meanwhile cut a period short. A quota is known only when such a period is over. Steal of
// a virtual machine's host, and other programs on the CPUs, are not told apart. A pause of the whole
// machine also stops the watcher, and is not seen. A program that is late because it has too much
// to do is silent, but not Stopped.
func (w *Watcher) Wait(ctx context.Context, after Status) (Status, error) {
	s, err := w.wait(ctx, after)
	if err != nil && err != ctx.Err() {
		return s, fmt.Errorf("hazard: %w", err)
	}
	return s, err
}

// Changes returns the changes after the one with a number, the oldest first. A page keeps the last
// 31 at least. missed is how many of those that are asked for it has lost.
func (w *Watcher) Changes(after uint64) (list []Change, missed uint64, err error) {
	list, missed, err = w.changes(after)
	if err != nil {
		return nil, 0, fmt.Errorf("hazard: %w", err)
	}
	return list, missed, nil
}

// Close ends the Watcher, and the thread that waits for it. Calls of Wait return [io/fs.ErrClosed].
func (w *Watcher) Close() error {
	if err := w.close(); err != nil {
		return fmt.Errorf("hazard: %w", err)
	}
	return nil
}
