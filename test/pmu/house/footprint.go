// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"pmu/internal/tool"
)

var total = regexp.MustCompile(`(?m)^ *(\d+) +(\d+)  total, (\d+) files$`)

// footprint counts upstream's lines that the patches add and remove. It has
// overlay.bash count, which lists them by file.
func footprint(root string) (section, error) {
	out, err := tool.Output(exec.Command(filepath.Join(root, "misc/pmu/overlay/overlay.bash"), "footprint"))
	if err != nil {
		return section{}, err
	}
	return parseFootprint(out)
}

func parseFootprint(out string) (section, error) {
	s := section{title: "footprint", columns: []column{{"added", nil}, {"removed", nil}, {"files", nil}}}
	m := total.FindStringSubmatch(out)
	if m == nil {
		return s, fmt.Errorf("overlay.bash footprint: no total: %q", out)
	}
	r := row{name: "upstream's lines"}
	for _, field := range m[1:] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return s, err
		}
		r.numbers = append(r.numbers, n)
	}
	s.rows = []row{r}
	return s, nil
}
