// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"cmd/pmu/internal/otlp"
	"cmd/pmu/internal/verb"
	"encoding/json"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// A request is a row of the tests' tables.
type request struct {
	Latency float64 `json:"latency"`
	Mutex   float64 `json:"mutex"`
	Server  string  `json:"server"`
	Faults  int     `json:"page-faults"`
}

const requests = 5000

// planted returns requests of which 3 % wait for a mutex for 40 ms.
func planted() (list []request) {
	r := rand.New(rand.NewPCG(1, 2))
	for range requests {
		x := request{10 * math.Exp(r.NormFloat64()*0.1), 0.1 * r.Float64(), string(rune('a' + r.IntN(3))), r.IntN(4)}
		if r.IntN(33) == 0 {
			x.Mutex += 40
			x.Latency += 40
		}
		list = append(list, x)
	}
	return list
}

func csvOf(list []request) string {
	var b strings.Builder
	b.WriteString("latency,mutex,server,page-faults\n")
	for _, x := range list {
		fmt.Fprintf(&b, "%v,%v,%s,%d\n", x.Latency, x.Mutex, x.Server, x.Faults)
	}
	return b.String()
}

func linesOf(list []request) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	for _, x := range list {
		e.Encode(x)
	}
	return b.String()
}

// tasksOf returns records of tasks of two kinds.
func tasksOf(list []request) (tasks []*taskrecord.Record) {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	servers := map[string]*taskrecord.Server{"a": {ID: 1, Name: "s"}, "b": {ID: 2, Name: "s"}, "c": {ID: 3, Name: "s"}}
	for i, x := range list {
		t := &taskrecord.Record{Server: servers[x.Server], Kind: "GET /", Trace: taskrecord.TraceID{byte(i), byte(i >> 8), 1}, Span: taskrecord.SpanID{1},
			Wall: ms(x.Latency), Goroutines: 1, Events: []string{"page-faults"}}
		t.Parts[pprof.TimeMutex] = ms(x.Mutex)
		t.Parts[pprof.TimeRunning] = ms(1)
		t.Count = []pprof.CounterValue{{Value: uint64(x.Faults)}}
		t.Notes = []taskrecord.Note{{Key: "status", Value: "200"}}
		tasks = append(tasks, t)
	}
	// Of another kind, which is always slow; and a call of another server.
	tasks = append(tasks, &taskrecord.Record{Server: servers["a"], Kind: "POST /", Trace: taskrecord.TraceID{5: 1}, Span: taskrecord.SpanID{2}, Wall: time.Second},
		&taskrecord.Record{Server: servers["a"], Kind: "GET /", Flags: taskrecord.Client, Trace: taskrecord.TraceID{5: 1}, Span: taskrecord.SpanID{3}, Wall: time.Second})
	return tasks
}

func fileOf(t *testing.T, tasks []*taskrecord.Record) string {
	t.Helper()
	var b bytes.Buffer
	w := taskrecord.NewFileWriter(&b, tasks[0].Server)
	for _, x := range tasks {
		if err := w.Write(x); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func write(t *testing.T, data string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func call(args ...string) (status int, stdout, stderr string) { return callWith("", args...) }

func callWith(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(Verb, args, verb.IO{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err})
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

// TestForms tests that the report is the same whatever form the input has, and that of tasks.
func TestForms(t *testing.T) {
	list := planted()
	_, want, _ := call(write(t, csvOf(list)))
	contains(t, "report", want, "mutex makes the tail: p99 is", "5000 requests: p50 ", "mutex >= 40", "(precision 1.00, recall 0.92), n 144", "no step: page-faults")
	if _, got, errs := call(write(t, linesOf(list))); got != want || errs != "" {
		t.Errorf("of lines:\n%s%s\nof CSV:\n%s", got, errs, want)
	}
	if _, got, errs := call(write(t, csvOf(list[:1000])), write(t, linesOf(list[1000:]))); got != want || errs != "" {
		t.Errorf("of two files:\n%s%s\nof one:\n%s", got, errs, want)
	}
	if _, got, _ := call("-latency", "l", write(t, strings.Replace(csvOf(list), "latency", "l", 1))); got != want {
		t.Errorf("with -latency:\n%s", got)
	}

	tasks := tasksOf(list)
	status, got, errs := call(write(t, fileOf(t, tasks)))
	contains(t, "report of tasks", got, "mutex makes the tail: p99 is", "5000 requests: p50 ", "mutex >= 40", "To look further: go tool pmu tasks -slow -kind 'GET /' ")
	contains(t, "messages", errs, `pmu why: 5000 of 5001 requests are of kind "GET /", and the report is of these: -kind selects the other kind`)
	if status != 0 {
		t.Errorf("status %d", status)
	}
	var lines []byte
	for _, x := range tasks {
		lines = append(taskrecord.AppendJSON(lines, x), '\n')
	}
	report, _, _ := strings.Cut(got, "\nTo look")
	_, got, errs = call("-kind", "GET /", write(t, string(lines)))
	if g, _, _ := strings.Cut(got, "\nTo look"); g != report || errs != "" {
		t.Errorf("of lines:\n%s%s\nof records:\n%s", got, errs, report)
	}
	// The same records twice, as from two requests to a server.
	_, got, errs = call("-kind", "GET /", write(t, fileOf(t, tasks)), write(t, string(lines)))
	if g, _, _ := strings.Cut(got, "\nTo look"); g != report {
		t.Errorf("of both:\n%s\nof records:\n%s", got, report)
	}
	contains(t, "messages", errs, "5002 records skipped that are there already")

	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/debug/pprof/tasks?format=json" {
			http.Error(w, "bad", 400)
			return
		}
		w.Write(lines)
	}))
	defer ts.Close()
	status, got, _ = call(ts.URL + "/debug/pprof/tasks")
	contains(t, "report of a server", got, "To look further: go tool pprof '"+ts.URL+"/debug/pprof/mutex?seconds=30'")
	if g, _, _ := strings.Cut(got, "\nTo look"); g != report || status != 0 {
		t.Errorf("of a server: status %d\n%s\nof records:\n%s", status, got, report)
	}
}

// TestSpans tests spans of OTLP: of our own tasks, and of others.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	id := func(n int) string { return fmt.Sprintf("%016x", n+1) }
	for i := range 2000 {
		at := int64(1e18) + int64(i)*1e9
		cart := int64(5e6 * math.Exp(r.NormFloat64()*0.1))
		if r.IntN(20) == 0 {
			cart += 30e6
		}
		db := cart - 2e6
		// The mail goes on when the page is there, so nobody waits for it.
		wall := cart + 10e6
		span := func(n, parent int, name string, from, to int64) string {
			p := ""
			if parent >= 0 {
				p = id(parent)
			}
			return fmt.Sprintf(`{"traceId":"%032x","spanId":%q,"parentSpanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":%d,"attributes":[{"key":"size","value":{"intValue":"%d"}}]}`,
				i+1, id(n), p, name, at+from, at+to, r.IntN(100))
		}
		fmt.Fprintf(&b, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[%s,%s,%s,%s]}]}]}`+"\n",
			span(0, -1, "GET /", 0, wall), span(1, 0, "getCart", 1e6, 1e6+cart), span(2, 1, "query", 2e6, 2e6+db), span(3, 0, "mail", wall-1e6, wall+500e6))
	}
	_, got, errs := call("-p", "0.97", write(t, b.String()))
	contains(t, "report", got, "2000 requests", "makes the tail: p97 is", "span shop query", "latency 16.6..46.4 ms: span shop query >= 32 ms: F 0.99 (precision 1.00, recall 0.97), n 100")
	if first, _, _ := strings.Cut(got, " "); errs != "pmu why: spans left out, as nobody waited for them: \"shop mail\"\n" || first != "span" || !strings.HasPrefix(got, "span shop query makes") {
		t.Errorf("%s\n%s", got, errs)
	}
	if strings.Contains(strings.Split(got, "Ruled out")[0], "getCart") {
		t.Errorf("getCart only waited:\n%s", got)
	}
	// As one object on many lines.
	one := strings.ReplaceAll(strings.TrimSpace(b.String()), `]}]}]}`+"\n"+`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[`, ",\n")
	if _, again, errs := call("-p", "0.97", write(t, one)); again != got || !strings.HasPrefix(errs, "pmu why: spans left out") {
		t.Errorf("as one object:\n%s%s\nas many:\n%s", again, errs, got)
	}
	if _, again, _ := call("-p", "0.97", "-kind", "GET /", write(t, one)); again != got {
		t.Errorf("with -kind:\n%s\nwithout:\n%s", again, got)
	}
	var own bytes.Buffer
	if err := otlp.Write(&own, func(yield func(*taskrecord.Record) bool) {
		for _, x := range tasksOf(planted()) {
			if !yield(x) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	_, got, errs = call("-kind", "GET /", write(t, own.String()))
	contains(t, "report of our own", got+errs, "5001 requests", "makes the tail")
}

// TestBadInput tests that bad input gets a clear sentence, and loses nothing.
func TestBadInput(t *testing.T) {
	list := planted()
	table := csvOf(list)
	file := fileOf(t, tasksOf(list))
	for _, tt := range []struct {
		name, data string
		args       []string
		status     int
		out, err   string
	}{
		{name: "empty", status: 1, err: "there are no requests"},
		{name: "header only", data: "latency,a\n", status: 1, err: "there are no requests"},
		{name: "no latency", data: "a,b\n1,2\n", status: 2, err: `there is no column "latency" among "a", "b": -latency names the one`},
		{name: "no latency in lines", data: "{\"a\":1}\n", status: 2, err: `there is no column "latency": -latency names the one`},
		{name: "two columns", data: "latency,a,a\n", status: 2, err: `there are two columns "a"`},
		{name: "page", data: "<html>", status: 2, err: "it is HTML or XML, not records: a server has them at /debug/pprof/tasks?format=json"},
		{name: "short lines", data: table + "1\n1,2,3,4,5\n", out: "5000 requests", err: "2 lines skipped that lack columns"},
		{name: "cut", data: table[:len(table)-4], out: "4999 requests", err: "1 line skipped that lacks columns"},
		{name: "quote", data: table + "1,\"2", status: 2, out: "5000 requests", err: "the rest is left out"},
		{name: "words among numbers", data: table + "1,abc,a,1\n", out: "5001 requests", err: `column "mutex": 1 cells don't fit`},
		{name: "no latencies", data: "latency,a\nx,1\n", status: 2, err: "none of 1 requests has a latency"},
		{name: "NaN", data: table + "NaN,1,a,1\n2,NaN,a,\n", out: "5001 requests", err: ""},
		{name: "negative", data: table + "-1,1,a,1\n", status: 2, err: "there are latencies below 0"},
		{name: "records cut", data: file[:len(file)-10], out: "5000 requests", err: "bytes skipped, which were damaged or cut"},
		{name: "records damaged", data: file[:5000] + "xxx" + file[5003:], out: "makes the tail", err: "bytes skipped, which were damaged or cut"},
		{name: "lines damaged", data: linesOf(list) + "{\"latency\":\n", out: "5000 requests", err: "bytes skipped, which were damaged or cut"},
		{name: "no spans", data: `{"resourceSpans":[]}`, status: 2, err: "it is JSON of OTLP, and there are no spans in it"},
		{name: "other kind", data: "latency,kind\n1,a\n", args: []string{"-kind", "b"}, status: 2, err: `there is nothing of kind "b": kinds are "a"`},
		{name: "no kinds", data: table, args: []string{"-kind", "b"}, status: 2, err: "there is no column kind"},
		{name: "percentile", data: table, args: []string{"-p", "99"}, status: 2, err: "-p is 99: it must be between 0 and 1, and is 0.99 for p99"},
		{name: "no percentile", data: table, args: []string{"-p", "0"}, status: 2, err: "-p is 0: it must be between 0 and 1"},
		{name: "p90", data: table, args: []string{"-p", "0.9"}, out: "5000 requests: p50 10, p90 11.5, slowest"},
		{name: "a segment", data: table, args: []string{"-segments", "1"}, status: 2, err: "-segments is 1: it must be 2 at least"},
		{name: "bandwidth", data: table, args: []string{"-bandwidth", "-1"}, status: 2, err: "-bandwidth is -1: it must not be less than 0"},
		{name: "no format", data: "some\"thing else\n", status: 2, err: "this is no header of CSV, and no other format that is known: "},
		{name: "few", data: table[:strings.LastIndexByte(table[:len(table)/100], '\n')+1], out: "too few requests: 1 is above p99, and it takes 10"},
		{name: "too long", data: table, args: []string{"-max", "1000"}, status: 2, err: "there are more than 1000 bytes: raise -max"},
		{name: "bracket", data: strings.Replace(table, "server", "[s]", 1), out: "mutex makes the tail"},
		{name: "bracket first", data: "[a],latency\n" + strings.Repeat("1,2\n", 10), out: "10 requests"},
		{name: "mark", data: "\xef\xbb\xbf" + table, out: "mutex makes the tail"},
	} {
		status, out, errs := call(append(tt.args, write(t, tt.data))...)
		if status != tt.status || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.err) || tt.err == "" && errs != "" {
			t.Errorf("%s: status %d\n%s%s, want %d, %q and %q", tt.name, status, out, errs, tt.status, tt.out, tt.err)
		}
	}
	status, _, errs := call("/does/not/exist")
	if status != 2 || !strings.Contains(errs, "/does/not/exist: no such file") {
		t.Errorf("no file: status %d, %s", status, errs)
	}
	// Units differ.
	status, _, errs = call(write(t, table), write(t, file))
	if status != 2 || !strings.Contains(errs, "its latencies are in ms, those before in no unit") {
		t.Errorf("units: status %d, %s", status, errs)
	}
}

// FuzzInput tests that no input is too strange.
func FuzzInput(f *testing.F) {
	list := planted()[:300]
	f.Add([]byte(csvOf(list)))
	f.Add([]byte(linesOf(list[:100])))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","parentSpanId":"0000000000000001","name":"a","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		status := run(Verb, []string{"-p", "0.9", "-"}, verb.IO{Stdin: bytes.NewReader(data), Stdout: io.Discard, Stderr: io.Discard})
		if status < 0 || status > 2 {
			t.Error(status)
		}
	})
}

// TestMissing tests that what a server says is missing of its records is said.
func TestMissing(t *testing.T) {
	data := fileOf(t, tasksOf(planted()))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Go-Tasks-Lost")
		io.WriteString(w, data)
		w.Header().Set("X-Go-Tasks-Lost", "3")
	}))
	defer srv.Close()
	url := srv.URL + "/debug/pprof/tasks?format=tasks"
	if status, _, errs := call(url); status != 0 || !strings.Contains(errs, "pmu why: "+url+": 3 records were lost on the server, where newer ones took the place in the rings\n") {
		t.Errorf("status %d, %q", status, errs)
	}
}
