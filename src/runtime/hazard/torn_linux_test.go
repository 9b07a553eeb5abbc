// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"bufio"
	"os"
	. "runtime/hazard"
	"testing"
	"time"
)

// fuzz has the page change until there is a line to read.
func fuzz(p *Publisher) {
	stop := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		close(stop)
	}()
	KeepChanging(p, stop)
}

// TestWord tests that what is read of a page that changes all the time is of one moment, and that each
// change is seen or known to be missed.
func TestWord(t *testing.T) {
	reads := 10_000_000
	if testing.Short() {
		reads = 100_000
	}
	c := publish(t)
	w := c.open()
	first := status(t, w).Number
	c.in.Write([]byte("fuzz\n"))
	check := &WordChecker{Watcher: w}
	torn := make(map[string]int)
	seen, missed, last := uint64(0), uint64(0), first
	lacks := func() bool {
		return seen == 0 || missed == 0 || check.Seen[Draining] == 0 || check.Seen[Stopped] == 0
	}
	// Where both have one CPU, it takes some time until there is a stop to see.
	for deadline := time.Now().Add(time.Minute); check.Reads < reads || lacks() && time.Now().Before(deadline); {
		check.Locked(func() {
			for range 1000 {
				why, err := check.Read()
				if err != nil {
					t.Fatalf("after %d reads: %v", check.Reads, err)
				}
				if why != "" {
					torn[why]++
				}
			}
		})
		list, n, err := w.Changes(last)
		if err != nil {
			t.Fatal(err)
		}
		missed += n
		for _, c := range list {
			seen++
			if c.Number != first+seen+missed {
				t.Fatalf("change %d, want %d", c.Number, first+seen+missed)
			}
			last = c.Number
		}
	}
	c.must("")
	end := status(t, w).Number
	list, n, err := w.Changes(last)
	if err != nil {
		t.Fatal(err)
	}
	seen, missed = seen+uint64(len(list)), missed+n
	t.Logf("%d reads, by state %v; %d changes: %d seen, %d overwritten", check.Reads, check.Seen, end-first, seen, missed)
	for why, n := range torn {
		t.Errorf("%d torn reads: %s", n, why)
	}
	if seen+missed != end-first {
		t.Errorf("%d changes seen and %d missed, of %d", seen, missed, end-first)
	}
	if lacks() {
		t.Error("the writer has not done what it should")
	}
}
