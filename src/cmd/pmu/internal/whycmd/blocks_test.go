// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bufio"
	"bytes"
	tracing "cmd/pmu/internal/spans"
	"cmd/pmu/internal/why"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file tests that a table is what it is if one line is read after the other, by packages of
// the standard library.

// readBlocks reads data in blocks of a size.
func readBlocks(data []byte, size int) string {
	var errs bytes.Buffer
	in := input{latency: "latency", block: size, stderr: &errs, progress: &progress{}}
	in.Max = 1 << 40
	in.Stdin = bytes.NewReader(data)
	in.read("-")
	return dump(&in, errs.String())
}

func dump(in *input, errs string) string {
	var b strings.Builder
	for _, c := range in.b.Columns() {
		fmt.Fprintf(&b, "%q %d\n", c.Name(), c.Bad)
	}
	t := in.b.Table(in.unit)
	fmt.Fprintf(&b, "%v %q\n", t.Latency, t.Unit)
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%v %q %q\n", c.Values, c.Words, c.Unit)
	}
	return b.String() + errs
}

// readSlowly reads data by line.
func readSlowly(data []byte) string {
	var errs bytes.Buffer
	in := input{latency: "latency", stderr: &errs, progress: &progress{}}
	f := file{input: &in, name: "-", r: bufio.NewReaderSize(bytes.NewReader(data), detected)}
	var err error
	if data[0] == '{' {
		err = f.slowJSON()
	} else {
		err = f.slowCSV()
	}
	if err != nil {
		fmt.Fprintf(&errs, "pmu why: -: %v\n", err)
	}
	f.saySkipped()
	return dump(&in, errs.String())
}

func (f *file) slowJSON() error {
	s := bufio.NewScanner(f.r)
	s.Buffer(nil, maxLine)
	data, _ := f.r.Peek(f.r.Size())
	isTasks, rows := tasksIn(data), 0
	if isTasks {
		f.use("ms")
	}
	var firstErr error
	lines := 0
	for s.Scan() {
		lines++
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		err := func() error {
			if isTasks {
				t, err := taskrecord.ParseJSON(line, json.Unmarshal)
				if err == nil {
					f.task(t)
				}
				return err
			}
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			var o map[string]any
			if err := d.Decode(&o); err != nil {
				return err
			}
			latency, ok := o["latency"]
			if !ok {
				return fmt.Errorf("there is no column %q: -latency names the one that is how long a request took", "latency")
			}
			v := nan
			if n, ok := latency.(json.Number); ok {
				v, _ = n.Float64()
			}
			delete(o, "latency")
			f.b.Add(v)
			f.slowMembers("", o)
			return nil
		}()
		if err == nil {
			rows++
			continue
		}
		f.skipped += int64(len(s.Bytes())) + 1
		if firstErr == nil {
			firstErr = err
		}
	}
	if rows > 0 {
		return nil
	}
	if firstErr != nil && lines > 1 && !isTasks {
		return fmt.Errorf("it is JSON, and no spans of OTLP, Zipkin v2 or Jaeger; for a table with an object a line: %w", firstErr)
	}
	return firstErr
}

func (f *file) slowMembers(prefix string, o map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		name = prefix + name
		switch v := v.(type) {
		case map[string]any:
			f.slowMembers(name+".", v)
		case string:
			f.b.Column(name, "", nan).Text(v)
		case json.Number:
			f.b.Column(name, f.columnUnit(name), nan).Text(v.String())
		case bool:
			f.b.Column(name, "", nan).Word(strconv.FormatBool(v))
		case []any:
			f.array(name)
		}
	}
}

func (f *file) slowCSV() error {
	r := csv.NewReader(f.r)
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return err
	}
	var columns []*why.ColumnBuilder
	at := -1
	for i, name := range header {
		if name = strings.TrimSpace(name); name == "latency" {
			at = i
			columns = append(columns, nil)
		} else {
			columns = append(columns, f.b.Column(name, f.columnUnit(name), nan))
		}
	}
	if at < 0 {
		return errors.New("no latency")
	}
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("the rest is left out: %v", err)
		case len(row) != len(columns):
			f.short++
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(row[at]), 64)
		if err != nil {
			v = nan
		}
		f.b.Add(v)
		for i, c := range columns {
			if c != nil {
				c.Text(row[i])
			}
		}
	}
}

// blockInputs are strange in some way.
func blockInputs(t interface {
	Helper()
	Fatal(...any)
}) (list []string) {
	tasks := tasksOf(planted()[:40])
	var lines []byte
	for _, x := range append(tasks, tasks[3:9]...) {
		lines = append(taskrecord.AppendJSON(lines, x), '\n')
	}
	list = append(list, string(lines), string(lines)+"{\"trace_id\":\"x\"}\n", csvOf(planted()[:200]), linesOf(planted()[:200]))
	for _, cells := range []string{
		"1,2,x", "2,,", "3,NaN,\"a,b\"", "4,0x10,\"a\nb\"", "5,x,", "6", "7,8,9,10", "", "\r", "8,1e3,x\r", "9,-0,\"\"\"\"", "x,1,y", " 1 ,+5,é", "1,1e999,\xff",
		"1,123456789012345678,z", "1,.5,5.", "1,\"7\",7", "1,NULL,-", "1,n/a,NA", "1, \\N , \"x\"", "2, 3, nan", "NA,none,\u00a0y\u2003", "1,-, x\t",
	} {
		list = append(list, "latency,a,b\n"+strings.Repeat("1,2,3\n", 5)+cells+"\n1,2,3\n"+cells, "latency,a,b\n"+cells+"\n1,2,3\n"+cells+"\n"+cells+"\n")
	}
	list = append(list, "latency,a,b\n1,2,3\n1,2\"3,4\n5,6,7\n", "latency,a\n1,\"2\"3\n5,6\n", "latency,a\n1,2\n1,\"2\n5,6\n", "latency,\"a\nb\"\n1,2\n3,\"\n4")
	for _, s := range []string{
		`{"latency":1,"a":2}`, `{"latency":1,"a":"x"}`, `{"latency":1,"a":true,"b":false}`, `{"latency":1,"a":null,"n":null}`, `{"latency":1,"a":2,"a":3}`, `{"latency":1,"latency":2}`,
		`{"latency":"1","a":"5"}`, `{"latency":1,"o":{"p":1,"q":"x"},"l":[1,2]}`, `{"latency":1,"a":"\u0041"}`, `{"latency":1,"a":"é"}`, "{\"latency\":1,\"a\":\"\xff\"}", `{"latency":1,"a":01}`,
		`{"latency":1,"a":1.}`, `{"latency":-0,"a":-1.5e-3} x`, ` { "latency" : 1 , "a" : 2 } `, `{"latency":1,"a":2`, `{}`, `{"a":1}`, `{"latency":1}`, `{"latency":1,"a":1e999}`, `{"latency":1e999}`,
		`{"latency":null,"a":""}`, `{"latency":1,"b":"","a":"NaN"}`, `{"latency":1,"a":"Inf"}`, `{"latency":1,"a":2,}`, `{"latency":1,"a.b":2,"a":{"b":3}}`, "{\"latency\":1,\"a\":\"x\ty\"}", `{"latency":1 "a":2}`,
		`{"latency":1,"o":{"p":1},"o":{"q":2}}`, `{"latency":1,"o":{"p":1},"o":5}`, `{"latency":1,"o":5,"o":{"p":1}}`, `{"latency":1,"o":{"p":1},"o":null}`, `{"latency":1,"o":null,"o":{"p":1}}`,
		`{"latency":1,"o":{"p":1,"p":2}}`, `{"latency":1,"o":{}}`, `{"latency":{"a":1}}`, `{"latency":1,"o":{"latency":3}}`, `{"latency":1,"o":{"p":{"r":1},"p":2},"o.p":3}`, `{"latency":1,"o.p":3,"o":{"p":2}}`,
		`{"latency":1,"o":{"p":{"q":{"r":{"s":{"t":1}}}}}}`, `{"latency":1,"o":{"p":1},"o.":2}`, `{"latency":1,"":{"":1},".":2}`, `{"latency":1,"o":{"p":1}`, `{"o":{"p":1},"latency":2,"a":1}`,
		`{"latency":1,"a":"NULL","b":"-"}`, `{"latency":1,"a":" NA ","b":"nan","n":"-"}`, `{"latency":1,"b":"N/A","a":" 7 ","n":"x"}`, `{"latency":1,"n":3}`,
	} {
		list = append(list, strings.Repeat(`{"latency":1,"a":2,"b":"x","o":{"p":1,"q":"y"}}`+"\n", 5)+s+"\r\n"+`{"latency":2,"a":5}`+"\n"+s, `{"latency":1}`+"\n"+s+"\n\n"+`{"latency":7,"b":2,"a":7}`+"\n"+s+"\n")
	}
	return list
}

// TestBlocks tests that tables are the same, however many lines a block has.
func TestBlocks(t *testing.T) {
	for _, data := range blockInputs(t) {
		want := readSlowly([]byte(data))
		for _, size := range []int{1, 10, 100, 1000, 1 << 20} {
			if got := readBlocks([]byte(data), size); got != want {
				t.Errorf("in blocks of %d bytes:\n%.500s\ngot\n%.2000s\nby line\n%.2000s", size, data, got, want)
			}
		}
	}
}

// FuzzBlocks tests that of any data.
func FuzzBlocks(f *testing.F) {
	for _, data := range blockInputs(f) {
		f.Add([]byte(data), uint16(20))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		if len(data) == 0 || data[0] == '<' || data[0] == '[' || data[0] >= 0x80 || bytes.HasPrefix(data, []byte("\x1f\x8b")) || bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) {
			return
		}
		if data[0] == '{' {
			if tracing.Detect(data, "latency") != tracing.None {
				return
			}
		} else {
			header, err := csv.NewReader(bytes.NewReader(data)).Read()
			if err != nil {
				return
			}
			for i := range header {
				header[i] = strings.TrimSpace(header[i])
			}
			slices.Sort(header)
			if len(slices.Compact(slices.Clone(header))) != len(header) || !slices.Contains(header, "latency") {
				return
			}
		}
		want := readSlowly(data)
		if got := readBlocks(data, int(size)+1); got != want {
			t.Errorf("in blocks of %d bytes:\n%s\nby line\n%s", size+1, got, want)
		}
	})
}

// FuzzNumber tests that numbers are those of package strconv.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"", "-", ".", "-.", "1", "-0", "0.1", "123456789012345", "1234567890123456", "0.000000000000001", "1.", ".1", "1e5", "+1", "1..2", "--1", "nan", "12345678901234567890123", "0.1234567890123456"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strconv.ParseFloat(s, 64)
		got, ok := parseNumber(s)
		if ok != (err == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: %v, %v, want %v, %v", s, got, ok, want, err)
		}
	})
}

// TestColumns tests -columns.
func TestColumns(t *testing.T) {
	list := planted()
	_, want, _ := call(write(t, csvOf(list)))
	want, _, _ = strings.Cut(want, "Ruled out")
	for _, data := range []string{csvOf(list), linesOf(list)} {
		_, got, errs := call("-columns", "mutex,latency", write(t, data))
		if got, _, _ := strings.Cut(got, "Ruled out"); strings.TrimSpace(got) != strings.TrimSpace(want) || errs != "" {
			t.Errorf("of one column:\n%s%s\nof all:\n%s", got, errs, want)
		}
		for name, near := range map[string]string{"mutx": `"mutex", `, "Page": `"page-faults", `} {
			want := fmt.Sprintf("pmu why: there is no column %q: of 3, those of the nearest names are %s", name, near)
			if status, got, errs := call("-columns", "mutex,"+name, write(t, data)); status != 2 || got != "" || !strings.HasPrefix(errs, want) {
				t.Errorf("-columns %s: status %d, %q, %q", name, status, got, errs)
			}
		}
	}
	_, got, _ := call("-columns", "mutex", "-kind", "POST /", write(t, fileOf(t, tasksOf(list))))
	contains(t, "report of another kind", got, "1 is above p99")
}
