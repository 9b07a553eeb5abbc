// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package runtime

import "internal/runtime/perf"

// Performance-monitoring events are counted on Linux only. Elsewhere opening
// a set fails and says so.

type perfCountThreads struct{}

type perfCountThread struct{}

func perfosCountStart(s *perfCountSet) perf.Failure { return perf.Failure{Op: perf.OpSupport} }

func perfosCountRead(s *perfCountSet, dst []perf.Count) {}

func perfosCountDivision(s *perfCountSet, d *perf.Division) {}

func perfosCountStop(s *perfCountSet) {}
