// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package doccheck has tests that keep README.md, README.pmu.md and doc in step
// with the code: messages are quoted as they are, tables are what the code
// has, examples compile, those that come first run, and links lead somewhere.
//
//	go test -count=1 ./doccheck   # in misc/pmu, by any Go; needs ./make.bash
//	go test ./doccheck -update    # write the tables of events
//
// The go command does not know what is outside of this module, and without
// -count=1 takes a result for valid that is not.
package doccheck
