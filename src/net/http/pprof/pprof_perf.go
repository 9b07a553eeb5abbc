// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// # Performance events
//
// To look at a 5-second profile of CPU cycles, or of both cycles and cache
// misses (with GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true in the environment of
// the program), or of any event that [runtime/pprof.PerfEvent] can name, with
// a sample every N events for period=N:
//
//	go tool pprof 'http://localhost:6060/debug/pprof/profile?event=cycles&seconds=5'
//	go tool pprof 'http://localhost:6060/debug/pprof/profile?event=cycles,cacheMisses&seconds=5'
//
// /debug/pprof/ lists the events that the machine has. Breakpoints and
// tracepoints can be asked for only if the program runs with
// GO_PPROF_ENABLE_HTTP_PROBES=true in its environment.
package pprof

// This file is for the comment above. A package's comments are joined in the
// order of their files' names, and this one comes after pprof.go's.
