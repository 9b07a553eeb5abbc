// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"bytes"
	"context"
	. "runtime/hazard"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// TestOutside tests that the package's own goroutines don't have the labels of who happens to be the
// first to call it, and so not his task.
func TestOutside(t *testing.T) {
	names := []string{"(*publisher).beats", "(*watcher).awaitEnd", "(*sleeper).sleep"}
	pprof.Do(t.Context(), pprof.Labels("who", "the caller"), func(ctx context.Context) {
		p, err := Publish(tempDir(t) + "/page")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		w, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for deadline := time.Now().Add(time.Minute); ; {
			if _, err := w.Wait(ctx, Status{}); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
				t.Fatal(err)
			}
			found, caller := 0, false
			for g := range strings.SplitSeq(b.String(), "\n\n") {
				labeled := strings.Contains(g, "the caller")
				caller = caller || labeled && strings.Contains(g, "TestOutside")
				for _, name := range names {
					if strings.Contains(g, "hazard."+name) {
						found++
						if labeled {
							t.Fatalf("labels of the caller:\n%s", g)
						}
					}
				}
			}
			if found == len(names) && caller {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d of %v are found; caller %v:\n%s", found, names, caller, &b)
			}
		}
	})
}
