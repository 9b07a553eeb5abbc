// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/perfevent"
	"strings"
	"testing"
	"time"
)

// TestPerfWithoutSamples checks that a profile without samples says so, and
// another one does not.
func TestPerfWithoutSamples(t *testing.T) {
	perfNeeds(t, "task-clock")
	// The first period is random, up to the period.
	r := perfProfileOf(t, []perfReq{{"major-faults", 1 << 40}}, func() { perfSpin(20 * time.Millisecond) })[0]
	if want := "no samples: the program was idle, or the event is rarer than its period"; !strings.Contains(r.ledger(), want) {
		t.Errorf("no %q in\n%s", want, r.ledger())
	}
	r = perfProfileOf(t, []perfReq{{"task-clock", 1e6}}, func() { perfSpin(50 * time.Millisecond) })[0]
	if r.total() == 0 || strings.Contains(r.ledger(), "no samples") {
		t.Errorf("%d samples in\n%s", r.total(), r.ledger())
	}
}

// TestPerfOnlyDelayed checks that a profile whose samples all came late does not say that it has none.
func TestPerfOnlyDelayed(t *testing.T) {
	perfNeedsAs(t, "page-faults", "page-faults")
	const n = 1000
	for range 100 {
		r := perfProfileOf(t, []perfReq{{"page-faults", n}}, func() {
			unblock := perfBlockSIGPROF(t)
			perfFault(t, 3*n)
			unblock()
		})[0]
		if r.comment("sampled") == 0 {
			t.Fatalf("no samples of %d faults:\n%s", 3*n, r.ledger())
		}
		if strings.Contains(r.ledger(), "no samples") {
			t.Fatalf("the profile has samples, but says:\n%s", r.ledger())
		}
		if r.comment("samples") == 0 {
			return // another thread may have had one
		}
	}
	t.Error("all profiles have samples that did not come late")
}

func TestSilentCause(t *testing.T) {
	for _, test := range []struct {
		event            string
		counted, running uint64
		want             string
	}{
		{"cycles", 0, 5e6, errProbeSilent.Error()},
		{"cycles", 0, 999_999, ""}, // too short to say
		{"cycles", 0, 0, ""},
		{"cycles", 1000, 5e6, ""}, // less than a period
		{"cycles:k", 0, 5e6, ""},  // never in the kernel
		{"cycles:G", 0, 5e6, ""},  // no guest
		{"cycles:H", 0, 5e6, errProbeSilent.Error()},
		{"task-clock", 0, 5e6, errProbeSilent.Error()},
		{"cache-misses", 0, 5e9, ""},
		{"page-faults", 0, 5e9, ""},
		{"major-faults", 0, 5e9, ""},
	} {
		e, err := new(perfevent.Resolver).Parse(test.event)
		if err != nil {
			t.Fatal(err)
		}
		if got := silentCause(e, test.counted, test.running); got != test.want {
			t.Errorf("%s: counted %d in %d ns: %q", test.event, test.counted, test.running, got)
		}
	}
}
