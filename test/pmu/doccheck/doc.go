// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package doccheck tests README.md, README.pmu.md and doc against the code: the
// tables of events are generated, examples compile, the commands of the first ten
// minutes run, and names and links exist.
//
//	go test -count=1 ./doccheck   # in test/pmu, with any Go; needs ./make.bash
//	go test ./doccheck -update    # write what is generated
//
// The go command does not see changes outside this module, so without -count=1
// it may reuse an outdated result.
package doccheck
