// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "testing"

func TestPerfStacks(t *testing.T) {
	stacks, err := perfStacks(`         1 
	          10db40 main.Target
	          10dc56 main.calls

       997 
	          10db40 main.Target
	ffffffff81000000 [unknown]

`)
	if err != nil {
		t.Fatal(err)
	}
	if n, events := sum(stacks, "main.Target"); n != 2 || events != 998 {
		t.Errorf("%d samples of %d events in main.Target, want 2 of 998", n, events)
	}
	if n := in(stacks, "main.calls"); n != 1 {
		t.Errorf("%d samples in main.calls, want 1", n)
	}
	if got := percents(stacks, "main.Target", "main.calls"); got != "99.9, 0.1 % in 3" {
		t.Errorf("percents: %s", got)
	}
	if _, err := perfStacks("no number\n\tf g\n"); err == nil {
		t.Error("malformed output was accepted")
	}
}

func TestParseTruth(t *testing.T) {
	truth := parseTruth("main.f 3\nns 1e6\nno truth in this line\n")
	if len(truth) != 2 || truth["main.f"] != 3 || truth["ns"] != 1e6 {
		t.Errorf("got %v", truth)
	}
}
