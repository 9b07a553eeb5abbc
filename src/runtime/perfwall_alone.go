// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !faketime && !windows && !(linux && amd64) && !plan9

package runtime

func perfWallclock() (sec int64, nsec int32) { return walltime() }
