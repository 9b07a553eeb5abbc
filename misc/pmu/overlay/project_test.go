// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package overlay

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// A tree is the content of a directory, by slash-separated path.
type tree map[string]string

// with returns t with the files of other added or replaced; those that are "-" are removed.
func (t tree) with(other tree) tree {
	both := maps.Clone(t)
	maps.Copy(both, other)
	maps.DeleteFunc(both, func(_, text string) bool { return text == "-" })
	return both
}

func (t tree) write(tb testing.TB, dir string) {
	tb.Helper()
	for path, text := range t {
		name := filepath.Join(dir, path)
		if text == "-" {
			must(tb, os.RemoveAll(name))
			continue
		}
		must(tb, os.MkdirAll(filepath.Dir(name), 0o777))
		must(tb, os.WriteFile(name, []byte(text), 0o666))
	}
}

// read returns what is in dir, but for git's.
func read(tb testing.TB, dir string) tree {
	tb.Helper()
	t := tree{}
	must(tb, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		t[strings.TrimPrefix(name, dir+"/")] = string(data)
		return err
	}))
	return t
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// lines returns the lines 1 to n, changed as strings.NewReplacer does.
func lines(n int, changes ...string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d.\n", i)
	}
	return strings.NewReplacer(changes...).Replace(b.String())
}

const (
	versionFile = "src/internal/buildcfg/zbootstrap.go"
	platform    = runtime.GOOS + "-" + runtime.GOARCH
	pinFile     = "misc/pmu/overlay/RELEASE"
)

// command is the go command of the releases. What it builds are copies of itself that say
// the version in the sources, and which of two files of runtime these had.
const command = `#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
[ "$GOROOT" = "$here" ] || { echo "GOROOT is $GOROOT"; exit 1; }
case $1 in
version) echo go version VERSION PLATFORM ;;
run) cat main.go fork.go stock.go >/dev/null && echo VERSION gopmu; exit $(cat "$GOROOT/src/net/http/exit" 2>/dev/null) ;;
build)
	[ ! -e cmd/broken.go ] || { echo broken.go does not compile; exit 1; }
	v=$(sed -n 's/^const version = .\(.*\).$/\1/p' internal/buildcfg/zbootstrap.go)
	[ ! -e cmd/stale.go ] || v=stale
	while [ "$1" != -o ]; do shift; done
	for c in $(echo "$3" "$4" | sed 's,cmd/,,g'); do
		{ sed "s/VERSIO[N]/$v/; s,PLATFOR[M],OS/ARCH," "$0"; echo "# of" $(grep -c our runtime/a.go) $(ls cmd runtime); } >"$2$c"
		chmod +x "$2$c"
	done ;;
esac
`

// goRelease is what all releases have.
func goRelease(name string) tree {
	return tree{
		"VERSION":            name + "\ntime 2026-01-02T03:04:05Z\n",
		"go.env":             "GOTOOLCHAIN=auto\n",
		"bin/go":             strings.Replace(command, "OS/ARCH", runtime.GOOS+"/"+runtime.GOARCH, 1),
		"pkg/tool/x/link":    "upstream's link\n",
		versionFile:          "package buildcfg\n\nconst version = `" + name + "`\n",
		"src/_go.mod":        "module std\n",
		"src/cmd/link/x.go":  "package main\n",
		"src/runtime/a.go":   lines(20),
		"src/runtime/b.go":   lines(5),
		"src/runtime/m.bash": "#!/bin/sh\n",
	}
}

// patchOf returns the patch of a file with the given hunks.
func patchOf(path, hunks string) string {
	return "--- a/" + path + "\n+++ b/" + path + "\n" + hunks
}

var (
	patchA = "Have two lines of ours.\n\n" + patchOf("src/runtime/a.go", "@@ -3 +3 @@\n-line 3.\n+our 3\n@@ -10,0 +11,2 @@\n+our 10a\n+our 10b\n")
	ourA   = []string{"line 3.\n", "our 3\n", "line 10.\n", "line 10.\nour 10a\nour 10b\n"}
)

// ours is an overlay on goRelease.
func ours(tb testing.TB) tree {
	script, err := os.ReadFile("overlay.bash")
	must(tb, err)
	return tree{
		"misc/pmu/overlay/overlay.bash": string(script),
		"go.env.patch":                  "Do not switch toolchains.\n" + patchOf("go.env", "@@ -1 +1 @@\n-GOTOOLCHAIN=auto\n+GOTOOLCHAIN=local\n"),
		"src/cmd/own.go":                "package main\n",
		"src/runtime/a.go.patch":        patchA,
		"src/runtime/own.go":            "package runtime\n",
		"src/runtime/own_test.go":       "package runtime\n\n\n",
		"doc/pmu.md":                    "stays in the repository\n",
	}
}

// A project is an overlay in a directory, and a proxy with the releases that there are.
type project struct {
	testing.TB
	root, goroot string
	proxy, cache string
	env          []string
}

// newProject makes a project with goRelease 1.99.1, changed, pinned.
func newProject(t *testing.T) *project {
	dir := t.TempDir()
	p := &project{TB: t, root: dir + "/p", goroot: dir + "/p/goroot", proxy: dir + "/proxy", cache: dir + "/cache"}
	p.env = append(os.Environ(), "GOPROXY=file://"+p.proxy, "GOMODCACHE="+p.cache, "GOSUMDB=off", "GOFLAGS=", "GIT_DIR="+dir+"/none")
	t.Cleanup(func() { p.command("go", "clean", "-modcache").Run() })
	ours(t).write(t, p.root)
	tree{pinFile: "# Comment.\ngo1.99.1\n" + platform + " " + p.publish("go1.99.1", goRelease("go1.99.1")) + "\n"}.write(t, p.root)
	return p
}

// command returns a command in the project's environment.
func (p *project) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = filepath.Dir(p.root), append(p.env, "GOTOOLCHAIN=local", "GOWORK=off")
	return cmd
}

// publish has the proxy offer a release, and returns its checksum.
func (p *project) publish(name string, release tree) string {
	p.Helper()
	version := "v0.0.1-" + name + "." + platform
	file := p.proxy + "/golang.org/toolchain/@v/" + version
	tree{file + ".info": `{"Version":"` + version + `"}`, file + ".mod": "module golang.org/toolchain\n"}.write(p, "/")
	f, err := os.Create(file + ".zip")
	must(p, err)
	z := zip.NewWriter(f)
	for path, text := range release {
		w, err := z.Create("golang.org/toolchain@" + version + "/" + path)
		must(p, err)
		_, err = w.Write([]byte(text))
		must(p, err)
	}
	must(p, z.Close())
	must(p, f.Close())
	out, err := p.command("go", "mod", "download", "-json", "golang.org/toolchain@"+version).Output()
	must(p, err)
	_, sum, _ := strings.Cut(string(out), `"Sum": "`)
	sum, _, _ = strings.Cut(sum, `"`)
	return sum
}

// overlay runs overlay.bash, which must succeed and say all of want.
func (p *project) overlay(args string, want ...string) {
	p.Helper()
	out, err := p.run(args)
	if err != nil {
		p.Fatalf("%s: %v\n%s", args, err, out)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			p.Errorf("%s does not say %q:\n%s", args, w, out)
		}
	}
}

// refuses runs overlay.bash, which must fail and say all of want.
func (p *project) refuses(args string, want ...string) {
	p.Helper()
	out, err := p.run(args)
	if err == nil {
		p.Errorf("%s succeeds, where it should say %q", args, want)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			p.Errorf("%s does not say %q:\n%s", args, w, out)
		}
	}
}

func (p *project) run(args string) (string, error) {
	out, err := p.command("bash", append([]string{p.root + "/misc/pmu/overlay/overlay.bash"}, strings.Fields(args)...)...).CombinedOutput()
	return string(out), err
}

// overlayIs checks the overlay's files but those of misc.
func (p *project) overlayIs(want tree) {
	p.Helper()
	got := read(p, p.root)
	notOverlay := func(path, _ string) bool { return strings.HasPrefix(path, "goroot") || strings.HasPrefix(path, "misc") }
	maps.DeleteFunc(got, notOverlay)
	want = maps.Clone(want)
	maps.DeleteFunc(want, notOverlay)
	if !reflect.DeepEqual(got, want) {
		p.Errorf("the overlay is\n%q\nwant\n%q", got, want)
	}
}
