// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"runtime/pprof"
	_ "unsafe" // for linkname
)

// Provided by package runtime; see perffree.go, perftask.go, perftaskwho.go, perftasklog.go,
// perftaskring.go, perftrace.go and perfwall.go there.

func runtime_perfProc() int32
func runtime_perfTaskNew(parent perf.TaskID, span uint64, kind uint32, set perf.SetID, n int, enter bool) (id perf.TaskID, goid uint64)

//go:noescape
func runtime_perfTaskUsage(id perf.TaskID, u *perf.TaskUsage) (ok bool)

//go:noescape
func runtime_perfTaskEnd(id perf.TaskID, u *perf.TaskUsage, slow int64) (ok bool, rest uintptr)

//go:noescape
func runtime_perfTaskEndRest(rest uintptr, u *perf.TaskUsage, slow int64)
func runtime_perfTaskGo(f func())
func runtime_perfTaskGiveUp(id perf.TaskID, keep bool)
func runtime_perfTaskOutlived(id perf.TaskID, any bool) (nanos int64, n int)
func runtime_perfTaskOutlivedBefore() int64
func runtime_perfTakenSum() int64
func runtime_perfTaskSetKind(id perf.TaskID, kind uint32)

//go:noescape
func runtime_perfTaskMembers(id perf.TaskID, dst []perf.TaskGoroutine) (n int)

//go:noescape
func runtime_perfTaskFollow(c *perf.TaskConfig)

//go:noescape
func runtime_perfTaskLogRead(id perf.TaskID, dst []perf.TaskStretch) (n int)
func runtime_perfTaskReason(wait, stop uint8) (w, s string)

//go:noescape
func runtime_perfTaskExpand(dst, pcs []uintptr) int

//go:noescape
func runtime_perfTaskRingSize(bytes *[perf.NumTaskRings]int)

//go:noescape
func runtime_perfTaskPush(kind int, record []uint64) (ok bool)

//go:noescape
func runtime_perfTaskPop(ring int, pos *uint64, dst []uint64) (n int, number uint64, skipped bool)
func runtime_perfTaskRingState(ring int) (tail, head, pushed, oldest uint64)

func runtime_perfWalltime() int64 // in ns since 1970, also in a bubble of testing/synctest
func runtime_perfGoroutine() (gp uintptr, goid uint64)
func runtime_perfSetRegionHook(f func(gp uintptr, goid, mode uint64))

// Provided by package runtime/pprof; see perf_task.go there.

func pprof_contextKey(key any) bool
func pprof_timeUsage(t *pprof.GoroutineTime) *perf.GoroutineTime
func pprof_counterSet(c *pprof.Counters) (set perf.SetID, slots int)
func pprof_counterSlots(c *pprof.Counters) (events []uint8)
func pprof_counterNew(events []string) (*pprof.Counters, error)
func pprof_counterOpen(c *pprof.Counters) error

//go:noescape
func pprof_counterValues(c *pprof.Counters, dst []pprof.CounterValue, raw []perf.Count)
func pprof_taskBegins(kindName func(kind uint32) string)

// These are package runtime's, for package runtime/pprof.

//go:linkname runtime_perfTaskEnter runtime/pprof.runtime_perfTaskEnter
func runtime_perfTaskEnter(id perf.TaskID) (entered bool)

//go:linkname runtime_perfTaskExit runtime/pprof.runtime_perfTaskExit
func runtime_perfTaskExit(id perf.TaskID)

// runtime_rand is what math/rand/v2 uses: ChaCha8 with a seed from the system.
//
//go:linkname runtime_rand runtime.rand
func runtime_rand() uint64

//go:linkname runtime_nanotime runtime.nanotime
func runtime_nanotime() int64

//go:linkname runtime_perfIntervalStart runtime/pprof.runtime_perfIntervalStart
//go:noescape
func runtime_perfIntervalStart(iv *perf.OpenInterval, set perf.SetID, n int) perf.IntervalError

//go:linkname runtime_perfIntervalEnd runtime/pprof.runtime_perfIntervalEnd
//go:noescape
func runtime_perfIntervalEnd(iv *perf.OpenInterval, u *perf.GoroutineTime, counts *perf.Count, n int, more bool) (unread uint64, f perf.Failure, err perf.IntervalError)
