// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package countbench checks the counts of go test -counters against code whose
// instructions are counted by hand. It needs a machine with a PMU, or the
// emulated one:
//
//	export PATH=$PWD/../../misc/pmu/vm:$PATH
//	GOARCH=arm64 CGO_ENABLED=0 go test -v .
package countbench
