// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu

package main

import (
	"fmt"
	"io"
)

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fmt.Fprintln(stderr, "ratio: this program was built by a Go that does not have package runtime/pprof/ratio: run it with goroot/bin/go, which ./make.bash makes")
	return 2
}
