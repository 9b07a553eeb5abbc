// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"internal/taskrecord"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A world is a folder, the machines that it keeps records of, and the program that does, which may be killed
// before any change of the folder. It knows which records were written.
type world struct {
	t        *testing.T
	dir      string
	query    url.Values
	machines machines

	mu      sync.Mutex
	written map[string]bool
	steps   int // changes of the folder that are left until the program is killed; negative if it isn't
	stderr  *messages
	cancel  context.CancelFunc
	done    chan error
}

func newWorld(t *testing.T, most int, names ...string) *world {
	w := &world{t: t, dir: t.TempDir(), machines: make(machines), written: make(map[string]bool)}
	for i, name := range names {
		w.machines[name] = &machine{name: name, clock: int64(-i) * int64(time.Hour), most: most}
	}
	return w
}

var errKilled = errors.New("killed")

func nameOfRecord(t *taskrecord.Record) string {
	return fmt.Sprint(string(t.Trace[8:9]), binary.BigEndian.Uint64(t.Trace[:]))
}

// disk is what a folder calls before each change.
func (w *world) disk(step string, t *taskrecord.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steps == 0 {
		return errKilled
	}
	w.steps--
	if t != nil {
		if name := nameOfRecord(t); w.written[name] {
			w.t.Errorf("record %s is written again", name)
		} else {
			w.written[name] = true
		}
	}
	return nil
}

// start starts the program.
func (w *world) start() {
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	w.steps = -1
	w.done = make(chan error, 1)
	var urls []string
	for name := range w.machines {
		urls = append(urls, "http://"+name+"/debug/pprof/tasks")
	}
	w.stderr = new(messages)
	go func() {
		w.done <- (Archiver{Dir: w.dir, Bytes: least, URLs: urls, Query: w.query, Stderr: w.stderr,
			pace: usualPace, client: &http.Client{Transport: w.machines}, disk: w.disk}).Run(ctx)
	}()
}

// stop ends the program; killed, it changes nothing any more.
func (w *world) stop(kill bool) {
	if kill {
		w.mu.Lock()
		w.steps = 0
		w.mu.Unlock()
	}
	w.cancel()
	if err := <-w.done; err != nil && !errors.Is(err, errKilled) {
		w.t.Errorf("%v, messages\n%s", err, w.stderr)
	}
}

// killIn kills the program before one of its next changes of the folder.
func (w *world) killIn(steps int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = steps
}

// settle lets all be read that can be. No sleep of the test takes time.
func (w *world) settle() {
	for _, m := range w.machines {
		m.change(func() { m.refuse, m.after, m.delay = false, 0, 0 })
	}
	time.Sleep(3 * time.Minute)
	synctest.Wait()
}

// check stops the program, and compares the folder with what was written. It returns the ledger, and how many
// records were never written.
func (w *world) check() (l *ledger, missing int) {
	w.t.Helper()
	w.stop(false)
	l = saved(w.t, w.dir)
	there := make(map[string]bool)
	names, _ := filepath.Glob(filepath.Join(w.dir, filePrefix+"*"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			w.t.Fatal(err)
		}
		r := taskrecord.NewFileReader(bytes.NewReader(data))
		for t, err := r.Next(); err == nil; t, err = r.Next() {
			if name := nameOfRecord(t); there[name] || !w.written[name] {
				w.t.Errorf("record %s is there twice, or was not written", name)
			} else {
				there[name] = true
			}
		}
	}
	if n := l.records(); n != int64(len(there)) || l.Read != l.Twice+l.TooLarge+l.Removed+l.Older+n || l.Removed != int64(len(w.written)-len(there)) {
		w.t.Errorf("%d records were written, and %d are there; the ledger has %+v", len(w.written), len(there), l)
	}
	for _, m := range w.machines {
		missing += m.n
	}
	return l, missing - len(w.written)
}

// TestModel breaks answers off, lets servers restart, refuse and be slow, kills the program and fills
// the folder, at random. Each record that a server has made must have been written once, or the ledger counts
// what is missing. Where rings are so large that nothing is ever gone, there is no gap.
func TestModel(t *testing.T) {
	seeds := 8
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { model(t, rand.New(rand.NewPCG(uint64(seed), 1)), seed%2 == 0) })
		})
	}
}

func model(t *testing.T, r *rand.Rand, calm bool) {
	most := 60
	if calm {
		most = 1 << 20
	}
	w := newWorld(t, most, "a", "b")
	for _, m := range w.machines {
		m.pad = strings.Repeat("x", 20_000)
	}
	names := []string{"a", "b"}
	before := new(ledger)
	was := 0
	for phase := range 8 {
		w.start()
		if phase == 0 {
			time.Sleep(time.Second) // what was before the servers were read first is in no promise
		}
		for range 3 + r.IntN(8) {
			m := w.machines[names[r.IntN(2)]]
			w.step(r, m, calm)
		}
		w.settle()
		l, missing := w.check()
		if new := int64(missing - was); l.Gaps == before.Gaps && new > l.Lost+l.LeftOut+l.TooLarge+l.Older-before.Lost-before.LeftOut-before.TooLarge-before.Older {
			t.Fatalf("phase %d: %d records are missing, and in no gap: %+v, before %+v\n%s", phase, new, l, before, w.stderr)
		}
		if calm && (l.Gaps > 0 || missing > 0) {
			t.Fatalf("phase %d: %d records are missing, in %d gaps, and all were in rings: %+v\n%s", phase, missing, l.Gaps, l, w.stderr)
		}
		before, was = l, missing
	}
	t.Logf("%d records were made, %d never written; the ledger has %+v", len(w.written)+was, was, before)
}

// step does something to a machine, or to the program.
func (w *world) step(r *rand.Rand, m *machine, calm bool) {
	switch r.IntN(10) {
	case 0, 1, 2:
		m.add(r.IntN(3), 1+r.IntN(50))
	case 3:
		m.add(r.IntN(3), 1+r.IntN(300))
	case 4:
		m.breakOff()
	case 5:
		m.change(func() { m.after = 1 + r.IntN(20) })
	case 6:
		m.change(func() { m.refuse = !m.refuse })
	case 7:
		m.change(func() { m.delay = time.Duration(r.IntN(int(time.Second))) })
	case 8:
		if calm {
			return
		}
		m.restart()
	case 9:
		w.killIn(r.IntN(30))
		m.add(r.IntN(3), 10)
		time.Sleep(time.Duration(r.IntN(int(2 * time.Minute))))
		w.stop(true)
		w.start()
	}
	time.Sleep(time.Duration(r.ExpFloat64() * float64([]time.Duration{time.Millisecond, time.Second, 10 * time.Second}[r.IntN(3)])))
}
