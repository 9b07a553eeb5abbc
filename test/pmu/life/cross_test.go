// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package life

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// TestCross tests that samples of a C thread that calls Go now and then are
// attributed to C while it runs C, and to its callbacks while it runs Go.
func TestCross(t *testing.T) {
	exe := build(t, "cprog")
	for _, event := range []string{"task-clock", "task-clock:uk"} {
		for _, callback := range []string{"c", "go"} {
			t.Run(event+","+callback, func(t *testing.T) {
				// A virtual machine's host delays things now and then. A wrong
				// attribution is wrong each time.
				for range 3 {
					err := cross(t, exe, event, callback)
					if err == nil {
						return
					}
					t.Log(err)
				}
				t.Error("wrong three times")
			})
		}
	}
}

func cross(t *testing.T, exe, event, callback string) error {
	file := filepath.Join(t.TempDir(), "prof")
	out := works(t, nil, exe, "cross", file, callback, event)
	var inC, inGo float64
	if _, err := fmt.Sscan(out, &inC, &inGo); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := read(t, file)
	gotC, gotGo := float64(p.Events["runtime._ExternalCode"]), float64(p.Events["main.callC"]+p.Events["main.callGo"])
	handler, late := float64(p.Events["runtime._PerfHandler"]), float64(p.Events["runtime._PerfLostLate"])
	delayed := float64(p.Events["runtime._PerfDelayed"])
	t.Logf("%.0f ns in C, %.0f in the profile; %.0f in callbacks, %.0f in the profile; %.0f delayed, %.0f in the handler, %.0f late",
		inC, gotC, inGo, gotGo, delayed, handler, late)

	// A callback has one sample or none, so that the number of all their samples has
	// the standard deviation of as many coin tosses. C has the rest.
	period := float64(p.MaxPeriod())
	d := 6 * math.Sqrt(period*inGo)
	if event == "task-clock" {
		// The counter runs on in the kernel, where no samples are taken.
		d += inC / 20
	}
	var wrong string
	if gotC < inC-d-late || gotC > inC+d {
		wrong += fmt.Sprintf("%.0f ns in C, %.0f in the profile\n", inC, gotC)
	}
	if gotGo+handler < inGo-d-late || gotGo > inGo+d {
		wrong += fmt.Sprintf("%.0f ns in callbacks, %.0f in the profile\n", inGo, gotGo)
	}
	if delayed > (inC+inGo)/100 {
		wrong += fmt.Sprintf("%.0f of %.0f ns are delayed, though no signal was blocked\n", delayed, inC+inGo)
	}
	if wrong != "" {
		return errors.New(wrong + strings.Join(p.Comments, "\n"))
	}
	return nil
}
