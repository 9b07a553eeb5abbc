// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"fmt"
	"log"
	"maps"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pmu/foreign/records"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		log.Fatal(err)
	}
	// This is where the files of multipart forms go.
	os.Setenv("TMPDIR", dir)
	for i := range 10_000 {
		file.text = fmt.Appendf(file.text, "%d\n", i)
	}
	file.name = filepath.Join(dir, "file.txt")
	at := time.Unix(1_600_000_000, 0)
	if err := os.WriteFile(file.name, file.text, 0o666); err != nil {
		log.Fatal(err)
	}
	if err := os.Chtimes(file.name, at, at); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestSame tests that nothing is different with TaskHandler, while tasks are recorded and while
// they are not: no byte on the wire, and nothing that a handler or a middleware can see, such as the
// methods of a writer. (Date, and where a proxy cuts chunks, are left out.)
func TestSame(t *testing.T) {
	compared, recorded := 0, 0
	for i := range stacks {
		s := &stacks[i]
		t.Run(s.name, func(t *testing.T) {
			for _, p := range []protocol{http1, http2} {
				want := visitSite(t, s, p, place{}, nil, cases)
				// If two visits differ without TaskHandler, that is the test's fault.
				again, _ := differences(want, visitSite(t, s, p, place{}, nil, cases))
				for name, d := range again {
					t.Fatalf("%v, %s: not the same twice: %s", p, name, d)
				}
				for _, at := range places {
					if at.within && !s.router {
						continue
					}
					for _, recording := range []bool{false, true} {
						var r *records.Reader
						if recording {
							if err := records.Start(1); err != nil {
								t.Fatal(err)
							}
							r = records.NewReader()
						}
						got := visitSite(t, s, p, at, pprof.TaskHandler, cases)
						if recording {
							// If nothing were recorded, nothing would have been tested.
							tasks, err := r.Take(got.tasks)
							if err != nil {
								t.Errorf("%v, %s: %v", p, at.name, err)
							}
							recorded += len(tasks)
							records.Stop()
						}
						all, n := differences(want, got)
						compared += n
						for _, name := range slices.Sorted(maps.Keys(all)) {
							t.Errorf("%v, TaskHandler %s, recording %v, %s: %s", p, at.name, recording, name, all[name])
						}
					}
				}
			}
		})
	}
	t.Logf("%d comparisons, %d tasks recorded", compared, recorded)
	if compared < 1000 {
		t.Errorf("%d comparisons, want 1,000 and more", compared)
	}
}
