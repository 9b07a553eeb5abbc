// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bufio"
	"cmd/pmu/internal/why"
	"encoding/json"
	"os"
	"strconv"
)

// writeRows writes the rows of a table to a file, as an object of JSON a line: those that a report is
// of. A cell of which nothing is known is not there.
func writeRows(name string, t *why.Table, r *why.Report) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	keys := make([][]byte, len(t.Columns))
	words := make([][][]byte, len(t.Columns))
	for i, c := range t.Columns {
		keys[i] = quoted(c.Name)
		for _, s := range c.Words {
			words[i] = append(words[i], quoted(s))
		}
	}
	var line []byte
	for row, latency := range t.Latency {
		if latency != latency || r.LeftBiased > 0 && t.Biased[row] {
			continue
		}
		line = append(line[:0], `{"latency":`...)
		line = strconv.AppendFloat(line, latency, 'g', -1, 64)
		for i := range t.Columns {
			c := &t.Columns[i]
			v := c.Values[row]
			if v-v != 0 {
				continue // it isn't known, and JSON has no infinity
			}
			line = append(append(append(line, ','), keys[i]...), ':')
			if c.Words != nil {
				line = append(line, words[i][int(v)]...)
			} else {
				line = strconv.AppendFloat(line, v, 'g', -1, 64)
			}
		}
		if _, err := b.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
	return b.Flush()
}

// quoted returns a string of JSON.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // of a string it can't fail
	return b
}
