// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"flag"
	"os"
	"testing"
	"time"
)

var (
	duration = flag.Duration("duration", time.Minute, "how long to run")
	seed     = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random choices")
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// TestSoak is the short form of the program.
func TestSoak(t *testing.T) {
	s := newSoak(config{duration: *duration, quiet: *duration / 6, seed: *seed, clients: 2}, t.Logf)
	if n := s.run(); n > 0 {
		t.Errorf("%d errors", n)
	}
}
