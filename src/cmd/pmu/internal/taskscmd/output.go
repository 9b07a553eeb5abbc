// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"io"
	"os"
)

// An output is where a conversion goes: a file, or w if name is empty. The file is created with the first byte, as a
// conversion may have nothing to write although there are tasks, or fail before it has written anything.
type output struct {
	name string
	w    io.Writer
	file *os.File
}

func (o *output) Write(p []byte) (int, error) {
	if o.name != "" && o.file == nil {
		file, err := os.Create(o.name)
		if err != nil {
			return 0, err
		}
		o.w, o.file = file, file
	}
	return o.w.Write(p)
}

// Close closes the file, if there is one.
func (o *output) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
