// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
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

// setFlight sets what slow tasks write, and where to; nothing if fr is nil.
func setFlight(fr *trace.FlightRecorder, dir string) {
	f := &flight
	f.Lock()
	defer f.Unlock()
	haveFlight.Store(fr != nil)
	if fr == f.fr && dir == f.dir {
		return
	}
	f.fr, f.dir, f.last = fr, dir, 0
	if fr != nil {
		f.err = nil
	}
}

// stopFlight ends writing. It waits for what is being written.
func stopFlight() {
	setFlight(nil, "")
	flight.writes.Wait()
}

// flightError returns the last error in writing.
func flightError() error {
	flight.Lock()
	defer flight.Unlock()
	return flight.err
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
	fr, name := f.fr, filepath.Join(f.dir, "trace-"+t.trace.String())
	f.writes.Add(1)
	runtime_perfTaskGo(func() {
		defer f.writes.Done()
		err := writeTrace(fr, name)
		f.Lock()
		defer f.Unlock()
		f.busy = false
		if err != nil {
			f.err = err
		}
	})
}

// maxFlightNames is how many files there can be of one trace.
const maxFlightNames = 100

// createFile creates a file that was not there. With O_EXCL, a symbolic link is there too,
// wherever it leads. It is a variable for a test of
// net/http/pprof, in which writing does not end.
//
//go:linkname createFile
var createFile = func(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// createTrace creates a file whose name begins so.
func createTrace(name string) (file *os.File, err error) {
	for n := 1; n <= maxFlightNames; n++ {
		full := name + ".out"
		if n > 1 {
			full = name + "-" + strconv.Itoa(n) + ".out"
		}
		file, err = createFile(full)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return file, err
}

// writeTrace writes a file whose name begins so.
func writeTrace(fr io.WriterTo, name string) error {
	file, err := createTrace(name)
	if err != nil {
		return err
	}
	own, statErr := file.Stat()
	_, err = fr.WriteTo(file)
	if err2 := file.Close(); err == nil {
		err = err2
	}
	if err != nil && statErr == nil {
		// Half a trace is of no use. Only what was created here goes, not what took its place.
		if now, err := os.Lstat(file.Name()); err == nil && os.SameFile(own, now) {
			os.Remove(file.Name())
		}
	}
	return err
}
