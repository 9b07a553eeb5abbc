// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const header = "--- a/src/f\n+++ b/src/f\n"

func TestApply(t *testing.T) {
	tests := []struct {
		name, base, patch, want string
	}{
		{"replace", "a\nb\nc\n", "@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n"},
		{"insert first", "a\n", "@@ -0,0 +1 @@\n+new\n", "new\na\n"},
		{"insert last", "a\nb\n", "@@ -2,0 +3,2 @@\n+c\n+d\n", "a\nb\nc\nd\n"},
		{"insert into nothing", "", "@@ -0,0 +1 @@\n+a\n", "a\n"},
		{"delete", "a\nb\nc\n", "@@ -2,2 +1,0 @@\n-b\n-c\n", "a\n"},
		{"two hunks", "a\nb\nc\nd\n", "@@ -1,0 +2 @@\n+x\n@@ -4 +5 @@\n-d\n+D\n", "a\nx\nb\nc\nD\n"},
		{"lines that look like headers", "-- a\nb\n", "@@ -1 +1 @@\n--- a\n+++ b\n", "++ b\nb\n"},
		{"commentary", "a\n", "diff --git a/src/f b/src/f\nindex 1..2\n" + header + "@@ -1 +1 @@ func f()\n-a\n+b\n", "b\n"},
		{"lose last newline", "a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		{"gain last newline", "a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
	}
	for _, test := range tests {
		text := test.patch
		if !strings.Contains(text, "+++ b/") {
			text = header + text
		}
		p, err := parsePatch("src/f", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got, err := p.apply([]byte(test.base))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

// A patch that does not apply must say which file and which hunk.
func TestPatchErrors(t *testing.T) {
	tests := []struct {
		name, patch string
		want        []string
	}{
		{"other text", header + "@@ -1 +1 @@\n-line 1\n+x\n@@ -3 +3 @@\n-line three\n+x\n", []string{"hunk 2 of 2 (@@ -3 +3 @@)", `line 3 is "line 3", not "line three"`}},
		{"moved", header + "@@ -2 +2 @@\n-line 3\n+x\n", []string{"hunk 1 of 1", `line 2 is "line 2"`}},
		{"past the end", header + "@@ -6,0 +7 @@\n+x\n", []string{"hunk 1 of 1", "only 5 lines"}},
		{"overlap", header + "@@ -2,2 +2 @@\n-line 2\n-line 3\n+x\n@@ -3 +2 @@\n-line 3\n+y\n", []string{"hunk 2 of 2", "overlaps"}},
		{"context", header + "@@ -1,2 +1,2 @@\n line 1\n-line 2\n+x\n", []string{"hunk 1", "context"}},
		{"counts", header + "@@ -1,2 +1 @@\n-line 1\n+x\n", []string{"hunk 1", "does not fit"}},
		{"no hunk header", header + "-line 1\n", []string{"hunk 1", "not a hunk header"}},
		{"no hunks", header, []string{"no hunks"}},
		{"other file", "--- a/src/g\n+++ b/src/g\n@@ -1 +1 @@\n-line 1\n+x\n", []string{`"--- a/src/g"`, `want "--- a/src/f"`}},
		{"not a diff", "hello\n", []string{"missing"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := parsePatch("src/f", []byte(test.patch))
			if err == nil {
				_, err = p.apply([]byte(numbered(5)))
			}
			wantError(t, err, append(test.want, "src/f.patch: ")...)
		})
	}
}

// What makePatch makes must give the file back, here and with git apply, and
// hold no line of upstream's but those that it removes.
func TestMakePatch(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for i := 0; i < 30; i++ {
		base := splitLines([]byte(numbered(rnd.Intn(40))))
		var want []string
		for _, line := range base {
			switch rnd.Intn(8) {
			case 0:
			case 1:
				want = append(want, "new\n", line)
			case 2:
				want = append(want, "other\n")
			default:
				want = append(want, line)
			}
		}
		from, to := strings.Join(base, ""), strings.Join(append(want, "end\n"), "")
		if i%3 == 0 {
			to = strings.TrimSuffix(to, "\n")
		}
		text, err := makePatch("src/f", []byte(from), []byte(to))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, " ") {
				t.Errorf("context line %q in\n%s", line, text)
			}
		}
		if got := gitApply(t, from, text); got != to {
			t.Errorf("git apply gives %q, want %q, from\n%s", got, to, text)
		}
	}
}

// gitApply applies the patch of src/f as git does.
func gitApply(t *testing.T, base string, text []byte) string {
	t.Helper()
	dir := tree{"src/f": base, "p": string(text)}.make(t)
	if out, err := gitCommand(dir, "apply", "--unidiff-zero", "p").CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, text)
	}
	got, err := os.ReadFile(filepath.Join(dir, "src", "f"))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestMakePatchBinary(t *testing.T) {
	_, err := makePatch("src/f", []byte("a\x00"), []byte("b"))
	wantError(t, err, "src/f", "binary")
}

func TestMakePatchNoFunctionNames(t *testing.T) {
	text, err := makePatch("src/f", []byte("func f() {\n\ta()\n\tb()\n\tc()\n}\n"), []byte("func f() {\n\ta()\n\tb()\n\tx()\n}\n"))
	if err != nil || strings.Contains(string(text), "func") {
		t.Errorf("got %v and\n%s", err, text)
	}
}
