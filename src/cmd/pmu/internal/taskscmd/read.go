// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmd/pmu/internal/source"
	"internal/taskrecord"
	"io"
)

// tasksPath is where a server has its tasks, if a URL names only the server.
const tasksPath = "/debug/pprof/tasks"

// Read calls yield with the tasks of files, folders and URLs, each once, until it returns false. It says on stderr, for a
// verb, what can't be read or is missing. The error is the first of those that it has reported.
func Read(src source.Source, verb string, names []string, stderr io.Writer, yield func(*taskrecord.Record) bool) error {
	src.Path = tasksPath
	in := &input{Source: src, verb: verb, stderr: stderr}
	files := in.files(names)
	if len(files) > 1 {
		in.seen = make(map[spanOf]struct{})
	}
	for _, name := range files {
		if !in.read(name, yield) {
			break
		}
	}
	return in.err
}
