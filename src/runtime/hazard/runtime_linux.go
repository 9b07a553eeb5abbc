// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import _ "unsafe" // for linkname

// Provided by package runtime; see perfhazard_linux.go there.

func runtime_hazardPublish(fd int32) (addr uintptr, errno int32)
func runtime_hazardClose()
func runtime_hazardBeat()

//go:noescape
func runtime_hazardSet(state uint8, reason string) (ok bool)

//go:linkname runtime_nanotime runtime.nanotime
func runtime_nanotime() int64
