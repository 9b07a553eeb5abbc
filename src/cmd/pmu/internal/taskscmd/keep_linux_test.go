// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmd/pmu/internal/source"
	"errors"
	"internal/taskrecord"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKeep keeps the records of a server until a signal comes, and reads the folder.
func TestKeep(t *testing.T) {
	front, _ := tasksOf(20)
	data := encode(t, front)
	query := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case query <- r.URL.RawQuery:
		default:
		}
		w.Write(data)
		if r.URL.Query().Has("seconds") {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "days")
	at := s.URL + "/debug/pprof/tasks"
	type result struct {
		status    int
		out, errs string
	}
	done := make(chan result, 1)
	go func() {
		status, out, errs := call("-keep", dir, "-kind", "GET /", "-slow", "-public", at)
		done <- result{status, out, errs}
	}()
	ledger := filepath.Join(dir, ".ledger.json")
	for {
		// Where there is a record, the signal is caught already. A gap is counted until what
		// the server had before is read.
		if fi, err := os.Stat(filepath.Join(dir, "tasks-0000000001")); err == nil && fi.Size() > int64(len(data))/2 {
			if text, err := os.ReadFile(ledger); err == nil && strings.Contains(string(text), `"gaps": 0,`) {
				break
			}
		}
		select {
		case r := <-done:
			t.Fatalf("it has ended: %+v", r)
		case <-time.After(time.Millisecond):
		}
	}
	if q := <-query; q != "format=tasks&kind=GET+%2F&public=1&seconds=60&slow=1" {
		t.Errorf("query %q", q)
	}
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	if r := <-done; r.status != 0 || r.out != "" || !strings.Contains(r.errs, " records were read: ") {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"removed": 0`, `"removed": 4000`, 1)
	if err := os.WriteFile(ledger, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	status, out, errs := call(dir)
	if status != 0 || errs != "pmu tasks: "+dir+": 4000 older records were removed to make room\n" {
		t.Errorf("status %d, %s", status, errs)
	}
	contains(t, "report", out, "tasks of 1 kind on 1 server")

	for _, args := range [][]string{
		{"-o", "x", at}, {"-format", "json", at}, {"-trace", strings.Repeat("1", 32), at}, {"-http", ":0", at},
	} {
		if status, _, errs := call(append([]string{"-keep", dir}, args...)...); status != 2 || !strings.Contains(errs, "-keep goes with none of -format, -http, -o and -trace") {
			t.Errorf("%q: status %d, %s", args, status, errs)
		}
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-keep", dir, "-max", "100", at}, "-keep does not go with -max"},
		{[]string{"-keep", dir, "-timeout", "1s", at}, "-keep does not go with -timeout"},
		{[]string{"-bytes", "100", dir}, "-bytes goes with -keep only"},
	} {
		if status, _, errs := call(tt.args...); status != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: status %d, %s", tt.args, status, errs)
		}
	}
	if status, _, errs := call("-keep", dir, "shop.tasks"); status != 2 || !strings.Contains(errs, "shop.tasks is no URL") {
		t.Errorf("a file: status %d, %s", status, errs)
	}
}

// TestRemovedMeanwhile tests that a file of a folder that is removed after it was listed is no error.
func TestRemovedMeanwhile(t *testing.T) {
	front, _ := tasksOf(20)
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), encode(t, front), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stderr strings.Builder
	in := &input{Source: source.Source{Max: 1 << 30}, stderr: &stderr}
	files := in.files([]string{dir})
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		in.read(name, func(*taskrecord.Record) bool { n++; return true })
	}
	if n != 20 || len(files) != 2 || in.err != nil || !strings.Contains(stderr.String(), "a: it has been removed meanwhile") {
		t.Errorf("%d tasks of %q, error %v, messages %q", n, files, in.err, &stderr)
	}
	// One that was named itself is missed.
	for _, name := range in.files([]string{filepath.Join(dir, "a")}) {
		in.read(name, func(*taskrecord.Record) bool { return true })
	}
	if !errors.Is(in.err, fs.ErrNotExist) {
		t.Errorf("error %v", in.err)
	}
}
