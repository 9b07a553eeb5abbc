// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package doccheck has tests that keep README.md, README.pmu.md and doc in step
// with the code: messages are quoted as they are, tables are what the code
// has, examples compile and links lead somewhere.
//
//	go test ./doccheck            # in misc/pmu, by any Go; needs ./make.bash
//	go test ./doccheck -update    # write the tables of events and the footprint
package doccheck
