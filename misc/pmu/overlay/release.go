// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// releaseFile names the file, within an overlay, that pins the release.
const releaseFile = "misc/pmu/overlay/RELEASE"

// versionSuffix is what the fork adds to the release's name. The go command
// keys its build cache by the version of the compiler, assembler and linker,
// not by their contents: a change to what those generate needs a new suffix.
const versionSuffix = "-pmu"

// releaseComment begins releaseFile.
const releaseComment = `# The upstream release that this overlay is for, and the checksums of its
# toolchain modules (golang.org/toolchain@v0.0.1-RELEASE.PLATFORM) as in go.sum.
# A platform without a line here is verified by the checksum database alone.
`

// A release is an upstream release of Go.
type release struct {
	name string            // "go1.27.4"
	sums map[string]string // pinned module checksums ("h1:...") by platform
}

// platform is the GOOS-GOARCH that this program runs on and builds for.
const platform = runtime.GOOS + "-" + runtime.GOARCH

// forkVersion is what the fork built from r calls itself.
func (r release) forkVersion() string { return r.name + versionSuffix }

// module is r's toolchain module for this platform, as path@version.
func (r release) module() string {
	return "golang.org/toolchain@v0.0.1-" + r.name + "." + platform
}

// named returns the release name, with r's checksums if that is r.
func (r release) named(name string) release {
	if name == r.name {
		return r
	}
	return release{name: name}
}

// pinned reads the release that the overlay at root is for.
func pinned(root string) (release, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(releaseFile)))
	if err != nil {
		return release{}, err
	}
	r := release{sums: map[string]string{}}
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		switch f := strings.Fields(line); {
		case len(f) == 0:
		case len(f) == 1 && r.name == "" && strings.HasPrefix(f[0], "go"):
			r.name = f[0]
		case len(f) == 2 && strings.HasPrefix(f[1], "h1:"):
			r.sums[f[0]] = f[1]
		default:
			return release{}, fmt.Errorf("%s: line %q is neither a release nor PLATFORM h1:SUM", releaseFile, strings.TrimSpace(line))
		}
	}
	if r.name == "" {
		return release{}, fmt.Errorf("%s: names no release", releaseFile)
	}
	return r, nil
}

// fetch gets the release from the module cache, or through the module proxy,
// where the go command checks it against the checksum database, and compares
// its checksum with the pinned one. The tree that it returns is read-only.
func (r release) fetch() (*pristine, error) {
	dir, err := os.MkdirTemp("", "overlay-fetch")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := r.requireVerifiable(dir); err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd := goCommand("go", dir, userEnv(), "mod", "download", "-json", r.module())
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("no go command in PATH: install any Go >= 1.21 (go.dev/dl)")
	}
	var mod struct{ Dir, Sum, Error string }
	if jerr := json.Unmarshal(out, &mod); jerr != nil {
		mod.Error = stderr.String()
	}
	if mod.Error != "" || mod.Dir == "" {
		return nil, fetchError(r, mod.Error)
	}
	if want := r.sums[platform]; want != "" && want != mod.Sum {
		return nil, sumError(r.module(), mod.Sum, want)
	}
	return openPristine(mod.Dir, r.module(), mod.Sum)
}

// requireVerifiable reports an error if nothing would verify the download:
// the platform has no pinned checksum and the user has turned the database off.
func (r release) requireVerifiable(dir string) error {
	if r.sums[platform] != "" {
		return nil
	}
	out, err := goCommand("go", dir, userEnv(), "env", "GOSUMDB").Output()
	if err == nil && strings.TrimSpace(string(out)) == "off" {
		return fmt.Errorf("%s has no pinned checksum and GOSUMDB is off: set GOSUMDB=sum.golang.org or add the sum to %s", r.module(), releaseFile)
	}
	return nil
}

// sumError returns the error for a module that is not the one expected.
func sumError(module, got, want string) error {
	return fmt.Errorf("checksum mismatch: %s is %s, want %s: remove it from the module cache (go clean -modcache) and try again", module, got, want)
}

// fetchError turns what the go command said into one line with a remedy.
func fetchError(r release, said string) error {
	said = strings.TrimSpace(said)
	if strings.Contains(said, "checksum mismatch") || strings.Contains(said, "SECURITY ERROR") {
		return fmt.Errorf("checksum mismatch: %s is not what the checksum database has for it: check GOPROXY, or run go clean -modcache and try again", r.module())
	}
	said, _, _ = strings.Cut(said, "\n")
	said = strings.TrimPrefix(said, r.module()+": ")
	return fmt.Errorf("cannot get %s: %s (it comes through the Go module proxy: check the network and GOPROXY)", r.module(), said)
}

// goCommand returns a go command to run in dir with the environment env.
func goCommand(name, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(env, "PWD="+dir)
	return cmd
}

// userEnv is the environment to download in: the user's, with what could
// swap the go command or tie it to the user's own module removed.
func userEnv() []string {
	return append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=", "GO111MODULE=on", "GOOS=", "GOARCH=")
}

// buildEnv is the environment to build in: nothing that starts with GO or CGO
// but the places of caches gets through, so that the same overlay gives the
// same toolchain for everyone.
func buildEnv(goroot string) []string {
	var env []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case key == "GOCACHE" || key == "GOTMPDIR" || key == "GOPATH" || key == "GOMAXPROCS":
		case strings.HasPrefix(key, "GO") || strings.HasPrefix(key, "CGO_"):
			continue
		}
		env = append(env, kv)
	}
	return append(env, "GOROOT="+goroot, "GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOTELEMETRY=off", "CGO_ENABLED=0")
}
