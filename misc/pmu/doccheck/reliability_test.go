// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReliability tests that the tests exist which doc/pmu-reliability.md gives
// as proof, and that each row has one.
func TestReliability(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"src/runtime/pprof", "src/net/http/pprof", "src/internal/perfevent", "misc/pmu/life", "misc/pmu/soak"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			code.WriteString(readFile(t, file))
		}
	}
	doc := readFile(t, root+"/doc/pmu-reliability.md")
	names := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(doc, -1)
	if len(names) < 30 {
		t.Errorf("%d tests are named", len(names))
	}
	for _, m := range names {
		if !strings.Contains(code.String(), "func "+m[1]+"(") {
			t.Errorf("there is no %s", m[1])
		}
	}
	proof := regexp.MustCompile("`Test|leg `|What happened|^[|]---")
	tables, _, ok := strings.Cut(doc, "\n## Interrupted")
	if !ok {
		t.Error("no section about interrupted system calls")
	}
	for _, line := range strings.Split(tables, "\n") {
		if strings.HasPrefix(line, "|") && !proof.MatchString(line) {
			t.Errorf("no test proves: %s", line)
		}
	}
}
