// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package schedpath

import (
	"strconv"
	"strings"
	"testing"

	"pmu/internal/tool"
)

// TestSwitches tests that the operations of goroutines that are not accounted take as many
// instructions as in stock. It allows a thousandth more, for what the runtime does beside
// them. Only the emulated machine counts that exactly.
func TestSwitches(t *testing.T) {
	fork, stock := toolchains(t)
	want, got := count(t, stock), count(t, fork)
	for _, op := range []struct {
		name string
		more float64 // instructions that it may take beyond that
	}{
		{name: "goroutine switch"},
		{name: "channel, ping-pong"},
		{name: "system call that may block"},
		// Each of the two switches makes a compare more.
		{name: "coroutine, there and back", more: 4},
		// perfBorn's compares are 5. The rest is that the number varies by some 30 with where
		// the linker puts functions: stock has between 3,030 and 3,061.
		{name: "goroutine, start to end", more: 80},
	} {
		base, limit := want["alone: "+op.name], 1.001*want["alone: "+op.name]+op.more
		if base == 0 {
			t.Errorf("%s: nothing counted", op.name)
			continue
		}
		for _, situation := range []string{"alone", "beside accounted"} {
			n := got[situation+": "+op.name]
			t.Logf("%s, %s: %.2f instructions, %.2f in stock: %.5f", op.name, situation, n, base, n/base)
			if n == 0 || n > limit {
				t.Errorf("%s, %s: %.2f instructions, want %.2f at most", op.name, situation, n, limit)
			}
		}
		// Else nobody was accounted.
		if n := got["accounted: "+op.name]; n <= limit {
			t.Errorf("%s, accounted: %.2f instructions, no more than %.2f", op.name, n, limit)
		}
	}
}

// count returns the instructions of each operation in each situation.
func count(t *testing.T, tc tool.Toolchain) map[string]float64 {
	t.Helper()
	cmd, err := tool.VM(t.TempDir(), tc.Build(t, tool.OnVM, "./ratio"))
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]float64)
	for _, line := range strings.Split(tool.Must(t, cmd), "\n") {
		name, value, _ := strings.Cut(line, "\t")
		if n[name], err = strconv.ParseFloat(value, 64); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
