// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage tests that -html writes a page beside the text, and that a page which can't be
// written is an error that leaves nothing behind.
func TestPage(t *testing.T) {
	input := write(t, csvOf(planted()))
	_, want, _ := call(input)
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	if err := os.WriteFile(name, []byte("an older page"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := call("-html", name, input)
	if status != 0 || stdout != want || stderr != "" {
		t.Errorf("status %d, %s, want the same text as without -html:\n%s", status, stderr, stdout)
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the page", string(page), "<!DOCTYPE html>", "<h1>mutex makes the tail", "</html>\n")
	if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the page's mode is not the older one's: %v, %v", fi.Mode(), err)
	}

	// A link stays one.
	link := filepath.Join(dir, "link.html")
	if err := os.Symlink(name, link); err == nil {
		os.WriteFile(name, nil, 0o600)
		if status, _, stderr := call("-html", link, input); status != 0 {
			t.Errorf("a link: status %d, %s", status, stderr)
		}
		if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", fi.Mode(), err)
		}
		if again, err := os.ReadFile(name); string(again) != string(page) {
			t.Errorf("a link: %d bytes, want %d: %v", len(again), len(page), err)
		}
	}

	for _, tt := range []struct{ name, want string }{
		{filepath.Join(dir, "none", "page.html"), "none"},
		{dir, "is a directory"},
	} {
		status, _, stderr := call("-html", tt.name, input)
		if status != 2 || !strings.HasPrefix(stderr, "pmu why: ") || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, %s", tt.name, status, stderr)
		}
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if status, _, stderr := call("-html", "/dev/full", input); status != 2 || !strings.Contains(stderr, "no space left") {
			t.Errorf("/dev/full: status %d, %s", status, stderr)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(files) > 0 {
		t.Errorf("files left behind: %v, %v", files, err)
	}
}
