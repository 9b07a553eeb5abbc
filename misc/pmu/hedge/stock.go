// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu

package main

import "log"

func main() {
	log.Fatal("hedge: this program was built by a Go that has no package runtime/hazard: run it with goroot/bin/go, which ./make.bash makes")
}
