// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package task

// bootID is empty: the ID of a start of the machine is known on Linux only.
func bootID() string { return "" }
