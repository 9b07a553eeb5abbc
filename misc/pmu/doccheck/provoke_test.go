// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package doccheck

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// variable is a word that may stand for what varies in doc/pmu-errors.md.
var variable = regexp.MustCompile(`[A-Z]{2,}|\b[A-Z]\b|\\\.\\\.\\\.`)

// refused is the names at the beginning of a row of a table of reasons.
var refused = regexp.MustCompile(`^[\w-]+(, [\w-]+)*: `)

// TestProvoked tests that doc/pmu-errors.md has the messages of testdata/provoke,
// which is how those who meet one would search for it.
func TestProvoked(t *testing.T) {
	out, err := exec.Command(build(t, "testdata/provoke")).CombinedOutput()
	if err != nil {
		t.Fatalf("provoke: %v\n%s", err, out)
	}
	var patterns []*regexp.Regexp
	for _, m := range regexp.MustCompile("(?m)^- `(.*)`$").FindAllStringSubmatch(readFile(t, root+"/doc/pmu-errors.md"), -1) {
		// A message can go on, for instance with names that are near. Names that
		// are refused are before the reason.
		message := refused.ReplaceAllString(m[1], "")
		pattern := variable.ReplaceAllString(regexp.QuoteMeta(message), ".*")
		if len(strings.ReplaceAll(pattern, ".*", "")) > 25 || !strings.HasSuffix(pattern, ": .*") {
			patterns = append(patterns, regexp.MustCompile(`(^|: )`+pattern+`(;|,|$)`))
		}
	}
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, message, ok := strings.Cut(line, "\t")
		if !ok {
			if !strings.HasPrefix(strings.Trim(name, `"`), "?") {
				t.Errorf("case %s gave no error", name)
			}
			t.Logf("case %s: no error here", name)
			continue
		}
		n++
		found := false
		for _, p := range patterns {
			found = found || p.MatchString(message)
		}
		if !found {
			t.Errorf("case %s: doc/pmu-errors.md does not have %q", name, message)
		}
	}
	t.Logf("%d messages", n)
	if n < 25 {
		t.Errorf("only %d messages provoked:\n%s", n, out)
	}
}
