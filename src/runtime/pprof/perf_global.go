// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import "sort"

// perfGlobals are the program's package-level variables, by address.
type perfGlobals struct {
	read bool
	vars []perfGlobal
}

type perfGlobal struct {
	addr, size uint64
	name       string
}

// find returns the variable that an address is in.
func (g *perfGlobals) find(addr uint64) (name string, start, size uint64) {
	if !g.read {
		g.read = true
		g.vars = programVariables()
		sort.Slice(g.vars, func(i, j int) bool { return g.vars[i].addr < g.vars[j].addr })
	}
	i := sort.Search(len(g.vars), func(i int) bool { return g.vars[i].addr > addr }) - 1
	if i < 0 || addr-g.vars[i].addr >= g.vars[i].size {
		return "", 0, 0
	}
	v := &g.vars[i]
	return v.name, v.addr, v.size
}
