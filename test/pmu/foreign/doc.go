// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package foreign tests what pprof.TaskHandler and package runtime/task do among packages
// that are not the toolchain's own.
//
//	./test.bash foreign     # at the root, after ./make.bash
//	go test -count=1 ./...  # here, with the fork's go command
//
// It is a module of its own, as it depends on other modules, which the go command downloads.
// Neither the fork nor any other test does. So test.bash runs it only by name.
//
// TestSame compares servers with TaskHandler with the same ones without: what comes over the
// wire, byte by byte, and what handlers see. It ranges over three tables: the stacks of
// middlewares, the places in them for TaskHandler, and the cases, each a handler and a
// request for it. TestFindsDifferences shows what it would find.
//
// TestGRPC runs the example for gRPC of doc/pmu-tasks.md in two processes.
package foreign
