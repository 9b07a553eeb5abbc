// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// flight is the flight recorder that slow tasks trigger.
var flight struct {
	sync.Mutex
	fr   *trace.FlightRecorder
	dir  string
	last int64 // monotonic; 0 if it has not been
	busy bool
	err  error

	writes sync.WaitGroup
}

var haveFlight atomic.Bool // flight.fr is not nil

// flightPause is for how long a slow task writes nothing after another one has.
const flightPause = time.Minute

// FlightRecorder has a slow task write what fr has, which must have been started, to the
// file trace-ID.out in a directory: upstream's execution trace of what happened before. At
// most one is written a minute, in the background. A nil fr ends it, waits for what is being
// written, and returns the last error in that, if there was any.
func FlightRecorder(fr *trace.FlightRecorder, dir string) error {
	f := &flight
	if fr == nil {
		haveFlight.Store(false)
		f.writes.Wait()
	}
	f.Lock()
	defer f.Unlock()
	if fr != nil && !fr.Enabled() {
		return errors.New("task: the flight recorder has not been started")
	}
	err := f.err
	f.fr, f.dir, f.err = fr, dir, nil
	if fr != nil {
		f.last = 0
		haveFlight.Store(true)
		return nil
	}
	return err
}

// flightRecord writes the execution trace that led to t.
func flightRecord(t *Task) {
	if !haveFlight.Load() {
		return
	}
	f := &flight
	f.Lock()
	defer f.Unlock()
	now := runtime_nanotime() // also in a bubble
	if f.fr == nil || f.busy || f.last != 0 && now-f.last < int64(flightPause) {
		return
	}
	f.busy, f.last = true, now
	fr, name := f.fr, filepath.Join(f.dir, "trace-"+t.trace.String()+".out")
	f.writes.Go(func() {
		err := writeTrace(fr, name)
		f.Lock()
		defer f.Unlock()
		f.busy = false
		if err != nil {
			f.err = err
		}
	})
}

func writeTrace(fr *trace.FlightRecorder, name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = fr.WriteTo(file)
	if err2 := file.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}
