// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package main

// lock does nothing where there is no flock(2): do not run two builds of one
// tree at a time there.
func lock(name string) (unlock func(), err error) { return func() {}, nil }
