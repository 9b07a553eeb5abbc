// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"errors"
	"internal/perfevent"
	"io/fs"
	"strings"
	"testing"
)

// A spyFS records which names are opened.
type spyFS struct {
	fs.FS
	opened *[]string
}

func (s spyFS) Open(name string) (fs.File, error) {
	*s.opened = append(*s.opened, name)
	return s.FS.Open(name)
}

// FuzzParse checks that whatever text comes in over a network, Parse ends with
// an event or an *Error of bounded size, and looks nowhere but where sysfs and
// tracefs describe events.
func FuzzParse(f *testing.F) {
	for _, tt := range parseTests {
		f.Add(tt.machine, tt.in)
	}
	for _, tt := range errorTests {
		f.Add(tt.machine, tt.in)
	}
	machines := map[string]*perfevent.Resolver{}
	for _, name := range machineNames {
		machines[name] = machine(f, name)
	}
	f.Fuzz(func(t *testing.T, machine, in string) {
		m := machines[machine]
		if m == nil {
			m = machines["skylake"]
		}
		r := *m
		var sys, tracefs []string
		if r.Sys != nil {
			r.Sys = spyFS{r.Sys, &sys}
		}
		if r.Tracefs != nil {
			r.Tracefs = spyFS{r.Tracefs, &tracefs}
		}
		e, err := r.Parse(in)
		checkOpened(t, in, sys, "bus/event_source/devices", 3)
		checkOpened(t, in, tracefs, "events", 3)
		if err != nil {
			checkError(t, in, e, err)
			return
		}
		checkEvent(t, e)
		if len(e.Name) > 2*len(in)+64 || len(e.Attrs) > 8 {
			t.Errorf("%q: %d bytes of name, %d attributes", in, len(e.Name), len(e.Attrs))
		}
		if strings.Contains(in, "name") {
			return // a label is no name
		}
		if again, err := r.Parse(e.Name); err != nil || again.Name != e.Name {
			t.Errorf("%q: canonical name %q: %v, %v", in, e.Name, again, err)
		} else if show(again.Attrs) != show(e.Attrs) {
			t.Errorf("%q: canonical name %q has other attributes: %s, not %s", in, e.Name, show(again.Attrs), show(e.Attrs))
		}
	})
}

// checkOpened checks that only dir, and what is at most depth below it, was
// opened.
func checkOpened(t *testing.T, in string, opened []string, dir string, depth int) {
	t.Helper()
	for _, name := range opened {
		below, ok := strings.CutPrefix(name, dir)
		if !ok || !fs.ValidPath(name) || below != "" && below[0] != '/' || strings.Count(below, "/") > depth {
			t.Errorf("%q: opened %q", in, name)
		}
	}
	if len(opened) > 5000 {
		t.Errorf("%q: opened %d files", in, len(opened))
	}
}

func checkError(t *testing.T, in string, e *perfevent.Event, err error) {
	t.Helper()
	var pe *perfevent.Error
	if e != nil || !errors.As(err, &pe) {
		t.Fatalf("%q: %v, %v", in, e, err)
	}
	if pe.Reason == "" || len(pe.Near) > 5 || len(err.Error()) > 2000 {
		t.Errorf("%q: %d names, %d bytes: %v", in, len(pe.Near), len(err.Error()), err)
	}
	if strings.ContainsAny(err.Error(), "\n\x00") {
		t.Errorf("%q: control characters in %q", in, err)
	}
}
