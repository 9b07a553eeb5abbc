// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"path"
	"strconv"
	"strings"
)

// at returns the place as messages have it: x.go:31.
func (f Frame) at() string {
	switch {
	case f.File != "":
		return path.Base(strings.ReplaceAll(f.File, `\`, "/")) + ":" + strconv.Itoa(f.Line)
	case f.Func != "":
		return f.Func
	}
	return ""
}

// waiters are the packages, with those below them, that wait on behalf of others: who is
// interested in where a program waits wants to know who called them.
var waiters = []string{
	"bufio", "context", "crypto", "database/sql", "internal", "io", "net", "os", "reflect",
	"runtime", "sync", "syscall", "time", "vendor",
}

// Place returns the frame of a stack that says most about where it is: the innermost one
// that is not in the runtime, nor in a package like sync, time or net. It is the innermost
// one if all are, and the zero Frame if there is none.
func Place(stack []Frame) Frame {
	for _, f := range stack {
		if !f.in(waiters) {
			return f
		}
	}
	if len(stack) == 0 {
		return Frame{}
	}
	return stack[0]
}

// in reports whether f is in one of the packages, or in one below them.
func (f Frame) in(packages []string) bool {
	// A package's path has dots in its last element at most, escaped.
	slash := strings.LastIndexByte(f.Func, '/') + 1
	name, _, _ := strings.Cut(f.Func[slash:], ".")
	pkg := f.Func[:slash] + name
	for _, p := range packages {
		if rest, ok := strings.CutPrefix(pkg, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
