// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"bytes"
	"context"
	"fmt"
	"internal/runtime/perf"
	"internal/taskrecord"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOthers tests that files of the user stay as they are, whatever their names begin with, and that no
// number is taken twice.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	others := []string{"tasks-before.tasks", "tasks-0000000003.gz", "tasks-old", "tasks-3", "tasks--000000001", "tasks-+000000001", "tasks-0000000000", "tasks-00000000004", "zz"}
	big := strings.Repeat("x", least)
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(big), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, nameOf(7)), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newServer("a", 100)
	s.add(20)
	k := start(t, dir, least, serve(t, s))
	until(t, "the records", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, nameOf(8)))
		return bytes.Contains(data, []byte("GET /"))
	})
	if stderr, err := k.stop(); err != nil {
		t.Errorf("%v, messages\n%s", err, stderr)
	}
	for _, name := range others {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != big {
			t.Errorf("%s has %d bytes, error %v", name, len(data), err)
		}
	}
	if l := saved(t, dir); l.Removed != 0 || l.Damaged != 0 || len(l.Files) != 1 || l.Files[0].Name != nameOf(8) {
		t.Errorf("%+v", l)
	}
}

// TestSecrets tests that nobody but the user can read what is kept, and that passwords are neither kept
// nor said.
func TestSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	s := newServer("a", 100)
	s.add(20)
	const secret = "hunter2"
	at := strings.Replace(serve(t, s), "://", "://user:"+secret+"@", 1)
	k := start(t, dir, least, at)
	until(t, "the records", has(t, dir, 20))
	before := s.queries()
	s.set(true)
	until(t, "a query that is refused", func() bool { return s.queries() > before })
	s.set(false)
	s.add(1)
	until(t, "the record after", has(t, dir, 21))
	stderr, err := k.stop()
	if err != nil || !strings.Contains(stderr, "user:xxxxx@") || strings.Contains(stderr, secret) {
		t.Errorf("%v, messages\n%s", err, stderr)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range append(list, nil) {
		name := dir
		if x != nil {
			name = filepath.Join(dir, x.Name())
			if data, err := os.ReadFile(name); err != nil || bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s has the password, or %v", name, err)
			}
		}
		if fi, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, error %v", name, fi.Mode(), err)
		}
	}
	for _, u := range []string{
		"ftp://user:hunter2@host/tasks", "user:hunter2@host/tasks", "http://user:hun#hunter2@host/tasks", "http://user:%zzhunter2@host/tasks",
		"http://user:a/hunter2@host/tasks", "http://us er:hunter2@host/", "http://user:hunter2@/tasks",
	} {
		err := Archiver{Dir: dir, Bytes: least, URLs: []string{u}, Stderr: os.Stderr}.Run(context.Background())
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "no URL") {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestLargest tests that readers of a folder can read each of its files as a whole.
func TestLargest(t *testing.T) {
	for _, most := range []int64{least, 1 << 30, 1 << 40} {
		f, err := openFolder(t.TempDir(), most, 1, func(string, *taskrecord.Record) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if f.part != min(most/8, 256<<20) {
			t.Errorf("files of %d bytes are of %d", most, f.part)
		}
		f.lock.Close()
	}
}

// TestLedgerSize tests that what a server says can make the ledger no larger than a folder has room for.
func TestLedgerSize(t *testing.T) {
	var p taskrecord.RingPlaces
	for i := range perf.AllTaskRings {
		p = append(p, taskrecord.RingPlace{Ring: i, Next: math.MaxUint64})
	}
	const servers = 5
	l := ledger{Extents: make(map[string][]*extent)}
	for i := range servers {
		for range processes {
			u := &extent{Process: strings.Repeat("\x00", 64), Read: p, First: &p, Removed: p}
			l.Extents[fmt.Sprint(i)] = append(l.Extents[fmt.Sprint(i)], u)
		}
	}
	none := func(string, *taskrecord.Record) error { return nil }
	if n, err := l.save(t.TempDir(), none); err != nil || n > servers*each/2 {
		t.Errorf("%d bytes, error %v; there is room for %d", n, err, servers*each/2)
	}
	if _, err := openFolder(t.TempDir(), 2*servers*each-1, servers, none); err == nil || !strings.Contains(err.Error(), "bytes are too few: it takes 10485760 at least") {
		t.Errorf("a folder without room for the ledger: %v", err)
	}
}

// TestErrors tests that errors name their cause, and that one folder is for one program.
func TestErrors(t *testing.T) {
	s := newServer("a", 10)
	at := serve(t, s)
	dir := t.TempDir()
	for _, tt := range []struct {
		dir  string
		most int64
		url  string
		want string
	}{
		{dir, least, "shop.tasks", "shop.tasks is no URL of a server's /debug/pprof/tasks: "},
		{dir, least - 1, at, "8388607 bytes are too few: it takes 8388608 at least"},
		{filepath.Join(os.Args[0], "x"), least, at, "not a directory"},
	} {
		if err := (Archiver{Dir: tt.dir, Bytes: tt.most, URLs: []string{tt.url}, Stderr: os.Stderr}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	k := start(t, dir, least, at)
	s.add(1)
	until(t, "a record", has(t, dir, 1))
	if err := (Archiver{Dir: dir, Bytes: least, URLs: []string{at}, Stderr: os.Stderr}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "another program keeps records in "+dir) {
		t.Errorf("two programs: %v", err)
	}
	k.stop()
	if err := os.WriteFile(filepath.Join(dir, ledgerName), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := (Archiver{Dir: dir, Bytes: least, URLs: []string{at}, Stderr: os.Stderr}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "remove it to begin another ledger") {
		t.Errorf("a damaged ledger: %v", err)
	}
}

// TestServer tests that a URL that names a server is that of its records.
func TestServer(t *testing.T) {
	for _, name := range []string{"http://h:1", "http://h:1/", "http://h:1/debug/pprof/tasks"} {
		if u, err := new(Archiver).address(name); err != nil || u.String() != "http://h:1/debug/pprof/tasks?format=tasks" {
			t.Errorf("%s: %v, error %v", name, u, err)
		}
	}
}
