// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A patch is the change that the overlay makes to one file of the release,
// parsed from a zero-context unified diff.
type patch struct {
	name  string // of the patch file, for error messages
	hunks []hunk
}

// A hunk replaces the lines old, found at 1-based line oldStart, by new.
// If old is empty, new goes in after line oldStart, as diff(1) has it.
type hunk struct {
	header   string // "@@ -1,2 +3,4 @@", for error messages
	oldStart int
	old, new []string // each with its newline, unless the file lacks the last one
}

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parsePatch parses the patch for the file path, kept in the file path+".patch".
func parsePatch(path string, text []byte) (*patch, error) {
	p := &patch{name: path + ".patch"}
	lines := splitLines(text)
	body, err := patchBody(path, lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", p.name, err)
	}
	for len(body) > 0 {
		h, rest, err := parseHunk(body)
		if err != nil {
			return nil, fmt.Errorf("%s: hunk %d: %v", p.name, len(p.hunks)+1, err)
		}
		p.hunks = append(p.hunks, h)
		body = rest
	}
	if len(p.hunks) == 0 {
		return nil, fmt.Errorf("%s: has no hunks", p.name)
	}
	return p, nil
}

// patchBody checks the two header lines, which must name path,
// and returns the lines after them. Lines before them are commentary.
func patchBody(path string, lines []string) ([]string, error) {
	for len(lines) > 0 && !strings.HasPrefix(lines[0], "--- ") {
		lines = lines[1:]
	}
	want := [2]string{"--- a/" + path, "+++ b/" + path}
	for i, w := range want {
		if len(lines) <= i {
			return nil, fmt.Errorf("header line %q is missing", w)
		}
		got, _, _ := strings.Cut(strings.TrimSuffix(lines[i], "\n"), "\t")
		if got != w {
			return nil, fmt.Errorf("header line is %q, want %q", got, w)
		}
	}
	return lines[2:], nil
}

// parseHunk parses the hunk that lines begins with and returns the lines after it.
func parseHunk(lines []string) (h hunk, rest []string, err error) {
	m := hunkHeader.FindStringSubmatch(lines[0])
	if m == nil {
		return h, nil, fmt.Errorf("line %q is not a hunk header", strings.TrimSpace(lines[0]))
	}
	h.header = m[0]
	h.oldStart = number(m[1], 0)
	nold, nnew := number(m[2], 1), number(m[4], 1)
	for lines = lines[1:]; len(lines) > 0 && !strings.HasPrefix(lines[0], "@@"); lines = lines[1:] {
		switch text := lines[0][1:]; lines[0][0] {
		case '-':
			h.old = append(h.old, text)
		case '+':
			h.new = append(h.new, text)
		case '\\': // "\ No newline at end of file", about the line before
			last := &h.old
			if len(h.new) > 0 {
				last = &h.new
			}
			if len(*last) > 0 {
				l := &(*last)[len(*last)-1]
				*l = strings.TrimSuffix(*l, "\n")
			}
		case ' ':
			return h, nil, errors.New("has context lines; the overlay keeps no upstream text but what it replaces (use diff -U0)")
		default:
			return h, nil, fmt.Errorf("line %q is not part of a diff", strings.TrimSpace(lines[0]))
		}
	}
	if len(h.old) != nold || len(h.new) != nnew {
		return h, nil, fmt.Errorf("%s does not fit the -%d +%d lines that follow", h.header, len(h.old), len(h.new))
	}
	return h, lines, nil
}

func number(s string, absent int) int {
	if s == "" {
		return absent
	}
	n, _ := strconv.Atoi(s) // digits by the regexp; an absurd count fails in apply
	return n
}

// apply returns base with the patch applied. It is strict where git apply
// and patch(1) search for a place that fits: the release is pinned, so a
// hunk that is not exactly where it says belongs to another release.
func (p *patch) apply(base []byte) ([]byte, error) {
	lines := splitLines(base)
	var out bytes.Buffer
	done := 0 // lines of base copied or replaced so far
	for i, h := range p.hunks {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s: hunk %d of %d (%s) does not apply: %s",
				p.name, i+1, len(p.hunks), h.header, fmt.Sprintf(format, args...))
		}
		at := h.oldStart // lines of base before the hunk
		if len(h.old) > 0 {
			at--
		}
		if at < done {
			return nil, fail("it overlaps the hunk before it")
		}
		if at+len(h.old) > len(lines) {
			return nil, fail("the file has only %d lines", len(lines))
		}
		for j, want := range h.old {
			if got := lines[at+j]; got != want {
				return nil, fail("line %d is %q, not %q", at+j+1, strings.TrimSpace(got), strings.TrimSpace(want))
			}
		}
		writeLines(&out, lines[done:at])
		writeLines(&out, h.new)
		done = at + len(h.old)
	}
	writeLines(&out, lines[done:])
	return out.Bytes(), nil
}

// lineCounts returns how many lines of the upstream file the patch
// adds and removes.
func (p *patch) lineCounts() (added, removed int) {
	for _, h := range p.hunks {
		added += len(h.new)
		removed += len(h.old)
	}
	return added, removed
}

// makePatch returns the text of the patch that turns base into want,
// both versions of the file path.
func makePatch(path string, base, want []byte) ([]byte, error) {
	if bytes.IndexByte(base, 0) >= 0 || bytes.IndexByte(want, 0) >= 0 {
		return nil, fmt.Errorf("%s: is binary, which a patch can't hold", path)
	}
	dir, err := os.MkdirTemp("", "overlay-diff")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeAll(dir, map[string][]byte{"a": base, "b": want}); err != nil {
		return nil, err
	}
	cmd := gitCommand(dir, "diff", "--no-index", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "a", "b")
	out, err := cmd.Output()
	if code := exitCode(err); code != 1 { // 1: they differ
		return nil, fmt.Errorf("%s: git diff: exit status %d: %v", path, code, err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "--- a/%s\n+++ b/%s\n", path, path)
	inHunk := false
	for _, line := range splitLines(out) {
		if m := hunkHeader.FindString(line); m != "" {
			// What git puts after the second @@ is upstream's text.
			line, inHunk = m+"\n", true
		}
		if inHunk {
			text.WriteString(line)
		}
	}
	return text.Bytes(), checkPatch(path, text.Bytes(), base, want)
}

// checkPatch reports an error unless the patch text turns base into want.
func checkPatch(path string, text, base, want []byte) error {
	p, err := parsePatch(path, text)
	if err != nil {
		return err
	}
	got, err := p.apply(base)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: the patch made by git diff does not give the file back", path)
	}
	return nil
}

// mergeFiles merges the changes base→ours and base→theirs, as git merge-file
// does. Conflicts is how many places of merged hold conflict markers.
func mergeFiles(base, ours, theirs []byte, labels [3]string) (merged []byte, conflicts int, err error) {
	dir, err := os.MkdirTemp("", "overlay-merge")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	if err := writeAll(dir, map[string][]byte{"base": base, "ours": ours, "theirs": theirs}); err != nil {
		return nil, 0, err
	}
	cmd := gitCommand(dir, "merge-file", "-p", "-q", "--diff3",
		"-L", labels[0], "-L", labels[1], "-L", labels[2], "ours", "base", "theirs")
	merged, err = cmd.Output()
	// The exit status is the number of conflicts, at most 127, or negative
	// on error (so 128 and up here).
	switch code := exitCode(err); {
	case code >= 0 && code <= 127:
		return merged, code, nil
	default:
		return nil, 0, fmt.Errorf("git merge-file: %v", err)
	}
}

// gitCommand returns a git command that works on plain files in dir, deaf to
// the user's configuration and to any repository around it.
func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	return cmd
}

// exitCode returns the exit status behind err: 0 for none,
// -1 if the command did not run or did not exit.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// splitLines splits text into lines, each with its newline.
func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

func writeLines(b *bytes.Buffer, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
	}
}
