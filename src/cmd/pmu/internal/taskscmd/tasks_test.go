// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"internal/taskrecord"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// tasksOf returns the tasks of two servers for n requests: a front end, which calls a back
// end, whose clock is 5 s late and which sleeps in the last request.
func tasksOf(n int) (front, back []*taskrecord.Record) {
	a := &taskrecord.Server{ID: 1, Name: "front", PID: 10}
	b := &taskrecord.Server{ID: 2, Name: "back", PID: 20}
	const start = 1_800_000_000_000_000_000
	for i := 1; i <= n; i++ {
		wall := 2 * ms
		flags := taskrecord.ServerOf
		if i == n {
			wall, flags = 30*ms, flags|taskrecord.Slow
		}
		trace := taskrecord.TraceID{15: byte(i)}
		at := start + int64(i)*1e9
		f := &taskrecord.Record{
			Server: a, Trace: trace, Span: taskrecord.SpanID{1}, Kind: "GET /", Flags: flags, Start: at, Wall: wall + 3*ms, Goroutine: 1, Goroutines: 1,
			Calls: []taskrecord.Call{{Span: taskrecord.SpanID{2}, Kind: "GET /stock", Flags: taskrecord.Client, Start: ms, Wall: wall + ms, Remote: "10.0.0.7:80"}},
			Notes: []taskrecord.Note{{Key: "user", Value: "secret"}},
		}
		k := &taskrecord.Record{
			Server: b, Trace: trace, Span: taskrecord.SpanID{3}, Parent: taskrecord.SpanID{2}, Kind: "GET /stock", Flags: flags, Start: at - 5e9, Wall: wall, Goroutine: 1, Goroutines: 1,
		}
		if flags&taskrecord.Slow != 0 {
			f.Timeline = []taskrecord.Stretch{{Goroutine: 1, Part: pprof.TimeNetwork, Reason: "IO wait", Start: ms, Wake: wall + 2*ms, End: wall + 2*ms}}
			k.Timeline = []taskrecord.Stretch{{Goroutine: 1, Part: pprof.TimeSleep, Reason: "sleep", Start: ms, Wake: wall - ms, End: wall - ms,
				Stack: []taskrecord.Frame{{Func: "time.Sleep"}, {Func: "main.stock", File: "/src/stock.go", Line: 12}}}}
		}
		f.Parts[pprof.TimeRunning], f.Parts[pprof.TimeNetwork] = 2*ms, wall+ms
		k.Parts[pprof.TimeRunning], k.Parts[pprof.TimeSleep] = 2*ms, wall-2*ms
		front, back = append(front, f), append(back, k)
	}
	return front, back
}

func encode(t *testing.T, tasks []*taskrecord.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w := taskrecord.NewFileWriter(&b, tasks[0].Server)
	for _, x := range tasks {
		if err := w.Write(x); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tasks")
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func call(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(Verb, args, verb.IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return status, out.String(), err.String()
}

func contains(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
}

func TestReport(t *testing.T) {
	front, back := tasksOf(20)
	a, b := write(t, encode(t, front)), write(t, encode(t, back))
	status, out, errs := call(a, b)
	if status != 0 || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	contains(t, "report", out, "40 tasks of 2 kinds on 2 servers: 2 slow, 0 failed", "sleep 28 ms at stock.go:12", "sleep at stock.go:12: 1 of 1 slow request, 28 ms\n")

	status, out, _ = call("-kind", "GET /stock", "-slow", a, b)
	contains(t, "selection", out, "1 task of 1 kind on 1 server: 1 slow")
	if status != 0 {
		t.Errorf("status %d", status)
	}

	trace := front[19].Trace.String()
	status, out, _ = call("-trace", trace, b, a)
	if status != 0 {
		t.Errorf("status %d", status)
	}
	contains(t, "trace", out, "trace "+trace+": 33 ms, 2 tasks on 2 servers", "Clocks moved", "user: \"secret\"",
		`sleep 28 ms at stock.go:12 (task "GET /stock" on back)`)
	i, j := strings.Index(out, "GET /"), strings.Index(out, "GET /stock")
	if i < 0 || j < i {
		t.Errorf("the tree is not in order:\n%s", out)
	}
	if _, out, _ := call("-public", "-trace", trace, a, b); strings.Contains(out, "secret") {
		t.Error("notes in -public output")
	}
}

// TestConvert converts records to each format, and back from those that can be read.
func TestConvert(t *testing.T) {
	front, back := tasksOf(3)
	name := write(t, encode(t, append(front, back...)))
	check := map[string]func(data []byte) error{
		"text": func(data []byte) error { return nil },
		"json": func(data []byte) error {
			for _, line := range bytes.SplitAfter(data, []byte("\n")) {
				if len(line) > 0 && !json.Valid(line) {
					return fmt.Errorf("line %q", line)
				}
			}
			return nil
		},
		"otlp": func(data []byte) error {
			if !json.Valid(data) || bytes.Count(data, []byte(`"spanId"`)) < 6 {
				return fmt.Errorf("%s", data)
			}
			return nil
		},
		"pprof": func(data []byte) error {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err == nil {
				_, err = io.Copy(io.Discard, z)
			}
			return err
		},
		"tasks": func(data []byte) error { return nil },
		"svg": func(data []byte) error {
			d := xml.NewDecoder(bytes.NewReader(data))
			for {
				if _, err := d.Token(); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
	}
	_, want, _ := call(name)
	for _, f := range formats {
		out := filepath.Join(t.TempDir(), "out")
		status, _, errs := call("-format", f.name, "-o", out, name)
		if status != 0 || errs != "" {
			t.Errorf("%s: status %d, %s", f.name, status, errs)
			continue
		}
		data, err := os.ReadFile(out)
		if err == nil && len(data) == 0 {
			err = fmt.Errorf("it is empty")
		}
		if err == nil {
			err = check[f.name](data)
		}
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if f.name == "json" || f.name == "tasks" {
			if _, got, _ := call(out); got != want {
				t.Errorf("report of %s: got\n%s\nwant\n%s", f.name, got, want)
			}
		}
		if public, _, _ := call("-public", "-format", f.name, "-o", out, name); public != 0 {
			t.Errorf("%s -public: status %d", f.name, public)
		}
		if data, _ := os.ReadFile(out); bytes.Contains(data, []byte("secret")) {
			t.Errorf("%s: notes in -public output", f.name)
		}
	}
}

func TestPartial(t *testing.T) {
	front, _ := tasksOf(10)
	data := encode(t, front)
	var lines []byte
	for _, x := range front {
		lines = append(bytes.TrimSpace(taskrecord.AppendJSON(lines, x)), '\n')
	}
	damaged := bytes.Replace(lines, []byte(`"GET /"`), []byte(`"GET /`), 1)
	first := bytes.IndexByte(damaged, '\n') + 1
	for _, test := range []struct {
		name   string
		data   []byte
		want   string
		stderr string
		status int
	}{
		{"cut", data[:len(data)-5], "9 tasks", "bytes skipped, which were damaged or cut", 0},
		{"damaged line", damaged, "9 tasks", fmt.Sprintf("%d bytes skipped", first), 0},
		{"empty", nil, "", "no tasks: nothing was recorded", 1},
		{"page", []byte("<html>"), "", "a server has them at /debug/pprof/tasks?format=json", 2},
		{"other JSON", []byte(`{"a":`), "", "a line that is not the JSON of a task", 2},
		{"something else", []byte("hello, hello, hello, hello"), "", "tasks: ", 2},
	} {
		status, out, errs := call(write(t, test.data))
		if status != test.status {
			t.Errorf("%s: status %d, want %d", test.name, status, test.status)
		}
		contains(t, test.name, out, test.want)
		if test.want == "" && out != "" {
			t.Errorf("%s: %q, though there are no tasks", test.name, out)
		}
		contains(t, test.name+": standard error", errs, test.stderr)
	}
	// One bad file does not hide the others.
	status, out, errs := call(filepath.Join(t.TempDir(), "none"), write(t, data))
	if status != 2 {
		t.Errorf("status %d, want 2", status)
	}
	contains(t, "report", out, "10 tasks")
	contains(t, "standard error", errs, "no such file")

	status, out, errs = call("-max", fmt.Sprint(len(lines)/2), write(t, lines))
	if status != 2 {
		t.Errorf("-max: status %d, want 2", status)
	}
	contains(t, "-max", out, "tasks of 1 kind")
	contains(t, "-max", errs, "raise -max")
	if strings.Contains(errs, "not the JSON") {
		t.Errorf("-max: %q, of a line that -max has cut", errs)
	}
	if _, _, errs := call("-max", "10", write(t, lines)); !strings.Contains(errs, "more than 10 bytes: raise -max") || strings.Contains(errs, "not the JSON") {
		t.Errorf("-max within the first line: %q", errs)
	}
	if status, _, errs := call("-max", fmt.Sprint(len(lines)), write(t, lines)); status != 0 {
		t.Errorf("-max of the size: status %d: %s", status, errs)
	}
}

func TestURL(t *testing.T) {
	front, back := tasksOf(2)
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/tasks", func(w http.ResponseWriter, r *http.Request) {
		switch r.FormValue("format") {
		case "json":
			for _, x := range front {
				w.Write(append(bytes.TrimSpace(taskrecord.AppendJSON(nil, x)), '\n'))
			}
		default:
			io.WriteString(w, "<html>")
		}
	})
	mux.HandleFunc("/back", func(w http.ResponseWriter, r *http.Request) { w.Write(encode(t, back)) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "another one is served\x1b[31m", http.StatusConflict)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	status, out, errs := call("-trace", front[1].Trace.String(), s.URL+"/debug/pprof/tasks", s.URL+"/back")
	if status != 0 {
		t.Errorf("status %d: %s", status, errs)
	}
	contains(t, "trace", out, "2 tasks on 2 servers")
	status, _, errs = call(s.URL + "/busy")
	if status != 2 || strings.Contains(errs, "\x1b") {
		t.Errorf("status %d: %q", status, errs)
	}
	contains(t, "standard error", errs, "409 Conflict", "another one is served")
}

// TestHandedOn tests that the report of a request says who held a mutex first, which only the records
// of others tell.
func TestHandedOn(t *testing.T) {
	var list []*taskrecord.Record
	by := taskrecord.Waker{Goroutine: 9, Span: taskrecord.SpanID{9}, Kind: "flush", Stack: []taskrecord.Frame{{Func: "main.flush", File: "/src/shop.go", Line: 112}}}
	for i := range byte(3) {
		list = append(list, &taskrecord.Record{
			Server: &taskrecord.Server{Name: "shop"}, Trace: taskrecord.TraceID{i + 1}, Span: taskrecord.SpanID{i + 1}, Kind: "GET /", Flags: taskrecord.Slow, Goroutine: uint64(i + 1), Goroutines: 1,
			Start: 1_800_000_000_000_000_000 + int64(i), Wall: 50*ms + time.Duration(i)*ms,
			Timeline: []taskrecord.Stretch{{Goroutine: uint64(i + 1), Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Wake: 50*ms + time.Duration(i)*ms, End: 50*ms + time.Duration(i)*ms, Waker: by}},
		})
		by = taskrecord.Waker{Goroutine: uint64(i + 1), Span: taskrecord.SpanID{i + 1}, Kind: "GET /"}
	}
	name := write(t, encode(t, list))
	const head = "\nWho held mutexes that were handed on:\n"
	_, out, _ := call("-trace", list[2].Trace.String(), name)
	contains(t, "the last one", out, head+`  mutex held by task "flush" at shop.go:112, 52 ms, and handed on by 2 tasks`+"\n")
	if _, out, _ := call("-trace", list[0].Trace.String(), name); strings.Contains(out, head) {
		t.Errorf("the first one:\n%s", out)
	}
}

func TestFlags(t *testing.T) {
	front, _ := tasksOf(1)
	name := write(t, encode(t, front))
	for _, test := range []struct {
		args   []string
		stderr string
		status int
	}{
		{nil, "usage: go tool pmu tasks", 2},
		{[]string{"-format", "xml", name}, "use one of text, json, otlp", 2},
		{[]string{"-trace", "12", name}, "-trace: trace ID is not", 2},
		{[]string{"-trace", strings.Repeat("1", 32), name}, "no tasks", 1},
		{[]string{"-format", "svg", "-kind", "none", name}, "no tasks", 1},
		{[]string{"-max", "0", name}, "-max is 0", 2},
		{[]string{"-o", name, name}, "-o needs another file", 2},
		{[]string{"-http=:", "-format", "json", name}, "-http goes with neither -format nor -o", 2},
		{[]string{"-http=:", "-o", name + "2", name}, "-http goes with neither -format nor -o", 2},
		{[]string{"-http=localhost", name}, "missing port", 2},
	} {
		status, _, errs := call(test.args...)
		if status != test.status {
			t.Errorf("%q: status %d, want %d", test.args, status, test.status)
		}
		contains(t, fmt.Sprintf("%q", test.args), errs, test.stderr)
	}
	if status, _, _ := call(name); status != 0 {
		t.Error("-o has overwritten the file that was to be read")
	}
}

// TestNothing tests that a file of -o is left alone if there is nothing to write.
func TestNothing(t *testing.T) {
	front, _ := tasksOf(1)
	name := write(t, encode(t, front))
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.WriteFile(kept, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		for _, args := range [][]string{{"-kind", "none", name}, {filepath.Join(dir, "none")}} {
			out := filepath.Join(dir, "new")
			for _, out := range []string{out, kept} {
				if status, text, errs := call(append([]string{"-format", f.name, "-o", out}, args...)...); status == 0 || text != "" || errs == "" {
					t.Errorf("%s %q: status %d, %q, %q", f.name, args, status, text, errs)
				}
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s %q: a file without tasks", f.name, args)
				os.Remove(out)
			}
			if data, err := os.ReadFile(kept); string(data) != "before" {
				t.Fatalf("%s %q: the file that was there has %q; %v", f.name, args, data, err)
			}
			if status, text, _ := call(append([]string{"-format", f.name}, args...)...); status == 0 || text != "" {
				t.Errorf("%s %q: status %d, %q on standard output", f.name, args, status, text)
			}
		}
	}
}

// TestCompressed tests that records are read when they are compressed, too, and what is said of a file
// that is cut.
func TestCompressed(t *testing.T) {
	front, _ := tasksOf(10)
	var lines []byte
	for _, x := range front {
		lines = append(taskrecord.AppendJSON(lines, x), '\n')
	}
	for name, data := range map[string][]byte{"records": encode(t, front), "JSON": lines} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		_, want, _ := call("-format", "json", write(t, data))
		if status, got, errs := call("-format", "json", write(t, b.Bytes())); status != 0 || got != want {
			t.Errorf("%s: status %d, %s\n%s\nwant\n%s", name, status, errs, got, want)
		}
		status, _, errs := call(write(t, b.Bytes()[:b.Len()*3/4]))
		if status != 2 || !strings.Contains(errs, "it is compressed by gzip: unexpected EOF") {
			t.Errorf("%s, cut: status %d, %s", name, status, errs)
		}
		if _, _, errs := call("-max", fmt.Sprint(b.Len()+10), write(t, b.Bytes())); !strings.Contains(errs, "come out of it by gzip: raise -max") {
			t.Errorf("%s, with -max: %s", name, errs)
		}
	}
	if status, _, errs := call(write(t, []byte("\x1f\x8b"))); status != 2 || !strings.Contains(errs, "it is compressed by gzip") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestTwice tests that a record counts once that is in several files: a server was asked twice.
func TestTwice(t *testing.T) {
	front, back := tasksOf(10)
	first, second, other := write(t, encode(t, front[:6])), write(t, encode(t, front[2:])), write(t, encode(t, back))
	status, out, errs := call(first, second, other)
	if want := "pmu tasks: " + second + ": 4 records skipped that are there already\n"; status != 0 || errs != want {
		t.Errorf("status %d, %q, want %q", status, errs, want)
	}
	contains(t, "report", out, "20 tasks of 2 kinds on 2 servers: 2 slow")
}

// TestMissing tests that what a server says is missing of its records is said.
func TestMissing(t *testing.T) {
	front, _ := tasksOf(2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Go-Tasks-Lost")
		for _, x := range front {
			w.Write(append(taskrecord.AppendJSON(nil, x), '\n'))
		}
		w.Header().Set("X-Go-Tasks-Lost", "3")
	}))
	defer srv.Close()
	url := srv.URL + "/debug/pprof/tasks"
	if status, _, errs := call(url); status != 0 || errs != "pmu tasks: "+url+": 3 records were lost on the server, where newer ones took the place in the rings\n" {
		t.Errorf("status %d, %q", status, errs)
	}
}
