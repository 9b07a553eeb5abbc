// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// # Performance events
//
// To look at a 5-second profile of CPU cycles, or of both cycles and cache
// misses, or of any event that [runtime/pprof.PerfEvent] can name, with a
// sample every N events for period=N:
//
//	go tool pprof 'http://localhost:6060/debug/pprof/profile?event=cycles&seconds=5'
//	go tool pprof 'http://localhost:6060/debug/pprof/profile?event=cycles,cacheMisses&seconds=5'
//
// A profile of two events can be shown as their ratio, such as cycles per instruction, in a
// flame graph:
//
//	go tool pmu ratio -http=: 'http://localhost:6060/debug/pprof/profile?event=cycles,instructions&seconds=5'
//
// /debug/pprof/ links to the list of events that the machine has,
// /debug/pprof/?events=1. To make it, the program tries each event. In a terminal:
//
//	go tool pmu list http://localhost:6060/debug/pprof/
//
// Breakpoints and tracepoints can be asked for only if the program runs with
// GO_PPROF_ENABLE_HTTP_PROBES=true in its environment.
// GO_PPROF_DISABLE_HTTP_EVENTS=true there switches off the list and the
// profiles of events, for programs that are killed for the system call
// perf_event_open.
package pprof

// This file is for the comment above. A package's comments are joined in the
// order of their files' names, and this one comes after pprof.go's.
