// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The linker refuses a program in which a chain of functions that do not check
// the stack may take more of it than they are granted (abi.StackNosplitBase). A
// chain with a function of ours must leave some more: otherwise the smallest change
// could break a port, and a later compiler may use more.
const (
	stackGranted = 800
	stackLeft    = 48
)

// nosplitCall is a line of the linker's flag -debugnosplit: how much stack a function
// has taken when it calls another, or at most.
var nosplitCall = regexp.MustCompile(`(?m)^nosplit: (.+) \+(\d+)(?: -> (.+))?$`)

type stackCall struct {
	fn   string // "" for none
	took int
}

// checkStack checks the chains in the output of -debugnosplit.
func checkStack(out string) error {
	calls := make(map[string][]stackCall)
	for _, m := range nosplitCall.FindAllStringSubmatch(out, -1) {
		took, _ := strconv.Atoi(m[2])
		calls[m[1]] = append(calls[m[1]], stackCall{m[3], took})
	}
	if len(calls) == 0 {
		return fmt.Errorf("the linker says nothing of functions that do not check the stack:\n%.1000s", out)
	}
	// The most that a chain from fn takes, of all chains, and of those with a function
	// of ours (-1 if none). The linker refuses cycles, so there are none.
	type most struct{ all, ours int }
	seen := make(map[string]most)
	var chain func(fn string) most
	chain = func(fn string) most {
		if m, ok := seen[fn]; ok {
			return m
		}
		m := most{0, -1}
		seen[fn] = m
		for _, c := range calls[fn] {
			next := chain(c.fn)
			m.all = max(m.all, c.took+next.all)
			if next.ours >= 0 {
				m.ours = max(m.ours, c.took+next.ours)
			}
		}
		if strings.HasPrefix(fn, "runtime.perf") || strings.HasPrefix(fn, "runtime.(*perf") {
			m.ours = m.all
		}
		seen[fn] = m
		return m
	}
	worst, root := -1, ""
	for fn := range calls {
		if m := chain(fn); m.ours > worst {
			worst, root = m.ours, fn
		}
	}
	if worst > stackGranted-stackLeft {
		return fmt.Errorf("functions of the fork under %s leave %d bytes of the stack that nosplit functions have, want %d or more (link with -ldflags=-debugnosplit to see them)",
			root, stackGranted-worst, stackLeft)
	}
	return nil
}

// withoutStack removes the output of -debugnosplit from a command's output.
func withoutStack(out string) string {
	var kept []string
	for _, line := range strings.Split(out, "\n") {
		if !nosplitCall.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
