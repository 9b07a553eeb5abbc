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

// A repo is a git working tree of upstream's sources, in which git applies the
// patches, finds edits and merges. The tag release is what upstream released;
// HEAD has the overlay on top.
type repo struct{ dir string }

const releaseTag = "release"

// tracked are the files of a GOROOT that the overlay may change. What else the
// repository holds (api, doc, misc) stays there: the toolchain module has no
// such directories.
var tracked = []string{"src", "go.env"}

// git runs a git command in r, unaffected by the user's configuration and by any
// repository around r, and returns its standard output.
func (r repo) git(args ...string) (string, error) {
	args = append([]string{"-c", "user.name=overlay", "-c", "user.email=overlay", "-c", "safe.directory=*",
		"-c", "commit.gpgSign=false",
		"-c", "core.autocrlf=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsync=none", "-c", "core.compression=0"}, args...)
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(r.dir), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("no git command in PATH: install git")
	}
	if err != nil {
		return string(out), fmt.Errorf("git: %v: %s", err, oneLine(stderr.String()))
	}
	return string(out) + stderr.String(), nil // stderr: what apply --verbose says
}

func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// init makes r a repository that ignores what is not a source file.
func (r repo) init() error {
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	if _, err := r.git("init", "-q"); err != nil {
		return err
	}
	exclude := "/*\n!/src/\n!/go.env\n" + strings.Join(droppings, "\n") + "\n!**/testdata/**\n"
	return writeFile(filepath.Join(r.dir, ".git", "info", "exclude"), []byte(exclude), 0o666)
}

// commit commits all of the tracked files as they are.
func (r repo) commit(message string) error {
	// A threshold of one byte makes add write a single pack, not 12,000 files.
	add := []string{"-c", "core.bigFileThreshold=1", "add", "-A", "-f", "--"}
	for _, path := range tracked {
		if _, err := os.Stat(filepath.Join(r.dir, path)); err == nil {
			add = append(add, path)
		}
	}
	if _, err := r.git(add...); err != nil {
		return err
	}
	_, err := r.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
	return err
}

// commitRelease is commit for upstream's files.
func (r repo) commitRelease(name string) error {
	if err := r.commit(name); err != nil {
		return err
	}
	_, err := r.git("tag", "-f", releaseTag)
	return err
}

// hasRelease reports whether the release has the file path.
func (r repo) hasRelease(path string) bool {
	_, err := r.git("cat-file", "-e", releaseTag+":"+path)
	return err == nil
}

// edits returns the files that differ from HEAD.
func (r repo) edits() ([]string, error) {
	if _, err := os.Stat(filepath.Join(r.dir, ".git")); err != nil {
		return nil, fmt.Errorf("%s is not a tree that this command built: remove it, use -force, or build elsewhere (-goroot)", r.dir)
	}
	out, err := r.git("status", "-z", "--porcelain", "--no-renames", "-uall")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range strings.Split(out, "\x00") {
		if len(entry) > 3 && !generated[entry[3:]] { // "XY PATH"
			paths = append(paths, entry[3:])
		}
	}
	return paths, nil
}

// moved is what git apply says of a hunk that it finds elsewhere.
var moved = regexp.MustCompile(`Hunk #(\d+) succeeded at \d+ (\(offset -?\d+ lines?\))`)

// apply applies the patch of the file path, whose text is in file; with the flag
// --check it only says whether it would. Git looks for a place that fits: the
// release is pinned, so a hunk that fits elsewhere belongs to another release.
func (r repo) apply(path, file string, flags ...string) error {
	out, err := r.git(append(append([]string{"apply", "--unidiff-zero", "--verbose"}, flags...), file)...)
	if err != nil {
		return fmt.Errorf("%s.patch: does not apply: %v", path, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	headers := regexp.MustCompile(`(?m)^@@ .*@@`).FindAllString(string(text), -1)
	for _, m := range moved.FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[1])
		// Git looks for a hunk that only deletes one line too early.
		if !strings.HasSuffix(headers[n-1], ",0 @@") || m[2] != "(offset 1 line)" {
			return fmt.Errorf("%s.patch: does not apply: %s (hunk %d of %d) fits elsewhere %s", path, headers[n-1], n, len(headers), m[2])
		}
	}
	return nil
}

// diff returns the change of the file path since the release as a zero-context
// patch, "" if there is none.
func (r repo) diff(path string) (string, error) {
	out, err := r.git("diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", releaseTag, "--", path)
	if err != nil || out == "" {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "--- a/%s\n+++ b/%s\n", path, path)
	hunks := 0
	for _, line := range strings.SplitAfter(out, "\n") {
		if strings.HasPrefix(line, "@@ ") {
			// After the second @@, git quotes a line of upstream's.
			line = line[:strings.Index(line[3:], "@@")+5] + "\n"
			hunks++
		}
		if hunks > 0 {
			text.WriteString(line)
		}
	}
	if hunks == 0 {
		return "", fmt.Errorf("%s: is binary, or only its mode changed, which a patch can't hold", path)
	}
	return text.String(), nil
}
