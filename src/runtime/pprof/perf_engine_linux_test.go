// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/testenv"
	"testing"
	"time"
)

// TestPerfEngine tests what the legs of test.bash rest on: that the engine
// under test samples, at the rate that it was asked for.
func TestPerfEngine(t *testing.T) {
	if testEvent == "" {
		t.Skip("no PMU_TEST_EVENT")
	}
	testenv.SkipIfOptimizationOff(t)
	period, err := testPeriod()
	if err != nil {
		t.Fatal(err)
	}
	r := perfProfileOf(t, []perfReq{{testEvent, period}}, func() { perfSpin(200 * time.Millisecond) })[0]
	r.balance()
	if n := r.total(); n < 100 {
		t.Errorf("%d samples; ledger:\n%s", n, r.ledger())
	}
}
