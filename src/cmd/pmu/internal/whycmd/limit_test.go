// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// An endless reader has a text, and then one again and again, up to a size that no test may need
// to read. It measures the heap meanwhile.
type endless struct {
	text, again string
	read, last  int64 // bytes, also at the last measurement
	heap        uint64
}

const endlessSize = 200 << 20

func (e *endless) Read(p []byte) (n int, err error) {
	if e.read-e.last >= 1<<20 {
		e.last = e.read
		e.measure()
	}
	if e.read >= endlessSize {
		return 0, io.EOF
	}
	if e.text == "" {
		e.text = e.again
	}
	for e.text != "" && n < len(p) {
		k := copy(p[n:], e.text)
		n, e.text = n+k, e.text[k:]
		if e.text == "" {
			e.text = e.again
		}
	}
	e.read += int64(n)
	return n, nil
}

func (e *endless) measure() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	e.heap = max(e.heap, m.HeapAlloc)
}

// TestEndless tests that a line, a record or an object that does not end is an error after as many
// bytes as one may have, says where it is, and takes little memory.
func TestEndless(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that the heap is what is in use
	const (
		mib    = 1 << 20
		buffer = 2 * mib // what is read in advance
	)
	x := strings.Repeat("x", 1000)
	spans := "{\"resourceSpans\":\n [{\"scopeSpans\":[{\"spans\":["
	for _, test := range []struct {
		name, text, again string
		read              int64  // at most
		heap              uint64 // more, at most
		err               string
	}{
		{"record", "latency,a\n1,2\n3,", x, mib, 16 * mib, "the record in line 3 is longer than 1048576 bytes: the rest is left out; it is no table, or a quote lacks its end"},
		{"record after blocks", "latency,a\n" + strings.Repeat("1,2\n", 1e6), x, 4*mib + mib, 64 * mib, "the record in line 1000002 is longer than 1048576 bytes"},
		{"fields", "latency,a\n1,2\n", ",", mib, 16 * mib, "the record in line 3 is longer than 1048576 bytes"},
		{"quote", "latency,a\n1,2\n3,\"", x + "\n", mib, 16 * mib, "the record in line 3 is longer than 1048576 bytes"},
		{"header", "latency,", x, mib, 16 * mib, "the record in line 1 is longer than 1048576 bytes"},
		{"header of fields", "\n\nlatency", ",", mib, 16 * mib, "the record in line 3 is longer than 1048576 bytes"},
		{"no table", "", "\x00", mib, 16 * mib, "the record in line 1 is longer than 1048576 bytes"},
		{"line", "{\"latency\":1}\n{\"latency\":1,\"a\":\"", x, 16 * mib, 64 * mib, "line 2 is longer than 16777216 bytes: the rest is left out; an object a line is a request, or an export of spans"},
		{"first line", "{\"latency\":1,\"a\":\"", x, 16 * mib, 64 * mib, "line 1 is longer than 16777216 bytes"},
		{"members", "{\"latency\":1", ",\"a\":1", 16 * mib, 64 * mib, "line 1 is longer than 16777216 bytes"},
		{"spans", spans + "{\"name\":\"", x, 64 * mib, 256 * mib, "an object is longer than 67108864 bytes: write spans as several, one a line"},
	} {
		runtime.GC()
		var e endless
		e.measure()
		before := e.heap
		e = endless{text: test.text, again: test.again}
		var errs bytes.Buffer
		status := run(Verb, []string{"-"}, verb.IO{Stdin: &e, Stdout: io.Discard, Stderr: &errs})
		e.measure()
		t.Logf("%s: %d bytes read, the heap grew by %.1f MiB", test.name, e.read, float64(e.heap-min(before, e.heap))/mib)
		if status != 2 || !strings.Contains(errs.String(), test.err) {
			t.Errorf("%s: status %d, %.500q, want %q", test.name, status, errs.String(), test.err)
		}
		if e.read > test.read+buffer {
			t.Errorf("%s: %d bytes read, want %d at most", test.name, e.read, test.read+buffer)
		}
		if e.heap > before+test.heap {
			t.Errorf("%s: the heap grew by %d bytes, want %d at most", test.name, e.heap-before, test.heap)
		}
	}
}

// TestBounds tests records of just the length that they may have, and what is in lines that is many
// times as large in memory.
func TestBounds(t *testing.T) {
	csv := func(record int) string { // with the line's end
		return "latency,a\n1,b\n3," + strings.Repeat("x", record-3) + "\n4,c\n"
	}
	lines := func(line int) string {
		return `{"latency":1}` + "\n" + `{"latency":3,"a":"` + strings.Repeat("x", line-len(`{"latency":3,"a":""}`)-1) + "\"}\n{\"latency\":4}\n"
	}
	var wide, line, sparse strings.Builder
	wide.WriteString("latency")
	line.WriteString(`{"latency":1`)
	for i := range maxColumns + 1 {
		fmt.Fprintf(&wide, ",a%d", i)
		fmt.Fprintf(&line, ",\"a%d\":1", i)
	}
	wide.WriteString("\n1" + strings.Repeat(",2", maxColumns+1) + "\n")
	line.WriteString("}\n")
	const requests = 3000
	for i := range requests {
		fmt.Fprintf(&sparse, "{\"latency\":1,\"a%d\":1}\n", i)
	}
	deep := func(n int) string {
		return "{\"latency\":1}\n{\"latency\":2,\"a\":" + strings.Repeat(`{"a":`, n-1) + "1" + strings.Repeat("}", n-1) + "}\n{\"latency\":3}\n"
	}
	for _, test := range []struct {
		name, data string
		only       string
		rows       int // at most, if there is an error of the whole file
		err        string
	}{
		{"record", csv(maxRecord), "", 3, ""},
		{"long record", csv(maxRecord + 1), "", 1, "the record in line 3 is longer than 1048576 bytes"},
		{"line", lines(maxLine), "", 3, ""},
		{"long line", lines(maxLine + 1), "", 1, "line 2 is longer than 16777216 bytes"},
		{"fields", "latency,a\n1,2\n" + strings.Repeat(",", maxRecord-10) + "\n3,4\n", "", 2, "1 line skipped that lacks columns, or has too many"},
		{"wide", wide.String(), "", 0, "there are 16386 columns, more than 16384: -columns names those that matter"},
		{"wide, some", wide.String(), "a1", 1, ""},
		{"wide line", line.String(), "", 1, "1 cells are left out, as there are more than 16384 columns: -columns names those that matter"},
		{"wide line, some", line.String(), "a1", 1, ""},
		{"table", sparse.String(), "", -requests + 1, "the table takes more than 1000000 bytes, so the rest is left out: -columns names the columns that matter, and -table raises the bound"},
		{"table, some", sparse.String(), "a1", requests, ""},
		{"table of CSV", "latency,a,b\n" + strings.Repeat("1,,\n", 1e6), "", -999_999, "the table takes more than 1000000 bytes"},
		{"table, the last block has no room", "latency,a,b\n" + strings.Repeat("1,,\n", 45_000), "", 45_000, ""},
		{"table of lines, the last block has no room", strings.Repeat("{\"latency\":1,\"a\":2}\n", 64_000), "", 64_000, ""},
		{"deep", deep(maxDepth), "", 3, ""},
		{"too deep", deep(maxDepth + 1), "", 2, "bytes skipped, which were damaged or cut"},
		{"deep arrays", "{\"latency\":1,\"a\":" + strings.Repeat(`[{"a":`, 100) + "1" + strings.Repeat("}]", 100) + "}\n", "", 1, "columns left out, as they are arrays: \"a\""},
	} {
		var errs bytes.Buffer
		in := &input{latency: "latency", stderr: &errs, progress: newProgress(io.Discard), block: 100_000}
		if strings.HasPrefix(test.name, "table") {
			in.most = 1_000_000
		}
		in.b.MaxColumns = maxColumns
		if test.only != "" {
			in.b.Skip = func(name string) bool { return name != test.only }
		}
		in.Stdin, in.Max = strings.NewReader(test.data), math.MaxInt64
		in.read("-")
		in.sayLeft()
		if n := in.b.Rows(); n != test.rows && (test.rows > 0 || n > -test.rows) {
			t.Errorf("%s: %d rows, want %d", test.name, n, test.rows)
		}
		if !strings.Contains(errs.String(), test.err) || test.err == "" && errs.Len() > 0 {
			t.Errorf("%s: %.500q, want %q", test.name, errs.String(), test.err)
		}
	}
}

// TestLongLines tests how much memory is for what may be in a long line, several of them.
func TestLongLines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	const mib = 1 << 20
	for _, what := range []string{"{},", "1,", "[],", "\"\","} {
		again := "{\"latency\":1,\"a\":[" + strings.Repeat(what, 8*mib/len(what)) + "0]}\n"
		runtime.GC()
		var e endless
		e.measure()
		before := e.heap
		e = endless{text: again, again: again}
		in := &input{latency: "latency", stderr: io.Discard, progress: newProgress(io.Discard), block: 100_000}
		in.Stdin, in.Max = &e, 64*mib
		in.read("-")
		e.measure()
		t.Logf("%s: %d bytes read, the heap grew by %.1f MiB", what, e.read, float64(e.heap-min(before, e.heap))/mib)
		if in.b.Rows() != 7 || e.heap > before+128*mib {
			t.Errorf("%s: %d rows, the heap grew by %d bytes; want %d at most", what, in.b.Rows(), e.heap-before, 128*mib)
		}
	}
}
