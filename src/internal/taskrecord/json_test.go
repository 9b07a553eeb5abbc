// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"math/rand"
	"reflect"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// validUTF8 makes all strings in v valid, as they come out of JSON.
func validUTF8(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			validUTF8(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			validUTF8(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			validUTF8(v.Elem())
		}
	case reflect.String:
		var b strings.Builder
		for _, r := range v.String() { // a U+FFFD for each byte that is not valid
			b.WriteRune(r)
		}
		v.SetString(b.String())
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		want := randomTask(r)
		want.Flags |= Flags(r.Intn(1 << 16))
		line := AppendJSON([]byte("x"), want)
		if line[0] != 'x' {
			t.Fatal("not appended")
		}
		line = line[1:]
		got, err := ParseJSON(line, json.Unmarshal)
		if err != nil {
			t.Fatal(err)
		}
		validUTF8(reflect.ValueOf(want).Elem())
		mustBe(t, []*Record{got}, []*Record{want})
		if !utf8.Valid(line) || bytes.ContainsAny(line, "\n\r<>&\u2028\u2029\x00\x1b") {
			t.Fatalf("not escaped: %q", line)
		}
	}
}

// TestJSONFields fails if a field is added to Record that the JSON does not hold.
func TestJSONFields(t *testing.T) {
	task := new(Record)
	leaves(reflect.ValueOf(task).Elem(), "Task", func(path string) {
		want := *task
		if want.Server == nil {
			want.Server = new(Server)
		}
		if strings.HasSuffix(path, "Part") && want.Timeline != nil && want.Timeline[1].Part >= NumParts ||
			want.Outlived != nil && want.Outlived[1].Part >= NumParts {
			return // there are no such parts
		}
		counts := func(u *Usage) {
			if u.Count != nil {
				want.Events = []string{"a", "b"}
			}
		}
		counts(&want.Usage)
		if want.Usual != nil {
			counts(&want.Usual.Usage)
		}
		for i := range want.Regions {
			counts(&want.Regions[i].Usage)
		}
		got, err := ParseJSON(AppendJSON(nil, &want), json.Unmarshal)
		if err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%s is lost, error %v", path, err)
		}
	})
}

// jsonKeys returns the keys of the object that a line is, in order.
func jsonKeys(t *testing.T, line []byte) (keys []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	for depth, isKey := 0, false; ; {
		token, err := d.Token()
		if err == io.EOF {
			return keys
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			if depth == 1 && isKey {
				keys = append(keys, token.(string))
			}
		}
		if depth == 1 {
			isKey = !isKey
		}
	}
}

// TestJSONColumns holds the names of columns to the style of the rest, each to one use,
// and each part and flag to the column of its name.
func TestJSONColumns(t *testing.T) {
	empty := jsonKeys(t, AppendJSON(nil, new(Record)))
	full := jsonKeys(t, AppendJSON(nil, randomTask(rand.New(rand.NewSource(1)))))
	if !slices.Equal(empty, full) || len(empty) < 60 {
		t.Errorf("columns of an empty task:\n%q\nand of a full one:\n%q", empty, full)
	}
	seen := make(map[string]bool)
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for _, name := range empty {
		if !snake.MatchString(name) || seen[name] {
			t.Errorf("column %q", name)
		}
		seen[name] = true
	}
	for p := range NumParts {
		var task Record
		task.Parts[p] = 12345
		name := strings.ReplaceAll(strings.ToLower(p.String()), "-", "_") + "_ns"
		if line := AppendJSON(nil, &task); !bytes.Contains(line, []byte(`"`+name+`":12345,`)) {
			t.Errorf("no column %s in %s", name, line)
		}
	}
	for _, f := range AllFlags {
		line := AppendJSON(nil, &Record{Flags: f.Flag})
		for _, g := range AllFlags {
			if !bytes.Contains(line, fmt.Appendf(nil, "%q:%v,", g.Column, f == g)) {
				t.Errorf("flag %#x and column %s: %s", f.Flag, g.Column, line)
			}
		}
	}
	if allFlags != Early<<1-1 || bits.OnesCount(uint(allFlags)) != len(AllFlags) {
		t.Errorf("the table has flags %#x", allFlags)
	}

	// Empty columns are there, and lists are lists.
	var values map[string]any
	if err := json.Unmarshal(AppendJSON(nil, new(Record)), &values); err != nil {
		t.Fatal(err)
	}
	for name, v := range values {
		if v == nil && name != "usual" {
			t.Errorf("column %s of an empty task is null", name)
		}
	}
}

func TestJSONLine(t *testing.T) {
	task := &Record{
		Server: &Server{ID: 7, Name: "a\u2028<b>\xff", PID: 42},
		Trace:  TraceID{0: 0xab, 15: 1},
		Span:   SpanID{7: 2},
		Kind:   "GET /",
		Flags:  Slow | ServerOf,
		Start:  1_700_000_000_123_456_789,
		Wall:   1500,
		Events: []string{"cycles"},
		Usage:  Usage{Count: []pprof.CounterValue{{Value: 1<<64 - 1, Enabled: 3, Running: 2}}},
	}
	line := strings.ReplaceAll(string(AppendJSON(nil, task)), "\ufffd", `\ufffd`) // escaped or not
	for _, want := range []string{
		`{"trace_id":"ab000000000000000000000000000001","span_id":"0000000000000002","parent_span_id":"","kind":"GET /",` +
			`"start_time":"2023-11-14T22:13:20.123456789Z","start_ns":1700000000123456789,"wall_ns":1500,` +
			`"slow":true,"failed":false,"late":false,"client":false,"server":true,"sampled":false,"uncounted":false,"epoch_change":false,"early":false,"flags":18,` +
			`"server_id":7,"server_name":"a\u2028\u003cb\u003e\ufffd","server_pid":42,"server_events":[],`,
		`"counts":{"cycles":18446744073709551615},"counts_enabled_ns":{"cycles":3},"counts_running_ns":{"cycles":2},`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s\nis not in\n%s", want, line)
		}
	}
}

// TestJSONForward reads a record with more columns than are known, and with a part that is not.
func TestJSONForward(t *testing.T) {
	want := &Record{Server: new(Server), Kind: "k", Outlived: []Goroutine{{Part: pprof.TimeOther}}, Timeline: []Stretch{{Part: pprof.TimeOther, Reason: "r"}}}
	line := string(AppendJSON(nil, want))
	later := strings.ReplaceAll(line, `"part":"other"`, `"part":"walking"`)
	later = strings.ReplaceAll(later, `"other_ns":0`, `"other_ns":0,"walking_ns":7`)
	if strings.Count(later, "walking") < 4 {
		t.Fatal(later)
	}
	got, err := ParseJSON([]byte(later), json.Unmarshal)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, []*Record{got}, []*Record{want})
}

func TestParseJSONErrors(t *testing.T) {
	valid := string(AppendJSON(nil, &Record{Outlived: make([]Goroutine, 1), Timeline: make([]Stretch, 1), Calls: make([]Call, 1)}))
	if _, err := ParseJSON([]byte(valid), json.Unmarshal); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseJSON([]byte(strings.Replace(valid, "{", `{"later":[{}],`, 1)), json.Unmarshal); err != nil {
		t.Errorf("an unknown column: %v", err)
	}
	for _, test := range [][3]string{
		{`"trace_id":"00`, `"trace_id":"0`, "is not of 32 hexadecimal digits"},
		{`"trace_id":"00`, `"trace_id":"0x`, "is not of 32 hexadecimal digits"},
		{`"parent_span_id":""`, `"parent_span_id":"12"`, "parent_span_id"},
		{`"clock_after":[]`, `"clock_after":[{},{},{},{},{},{},{},{},{}]`, "9 servers; at most 8"},
		{`"clock_after":[]`, `"clock_after":[{"server":65536}]`, "server"},
		{`"wall_ns":0`, `"wall_ns":"0"`, "not the JSON of a task"},
		{`"events":[]`, `"events":["a"` + strings.Repeat(`,""`, maxJSONEvents) + `]`, "1001 events"},
		{`}`, ``, "not the JSON of a task"},
	} {
		line := strings.Replace(valid, test[0], test[1], 1)
		if line == valid {
			t.Fatalf("no %s in %s", test[0], valid)
		}
		if _, err := ParseJSON([]byte(line), json.Unmarshal); err == nil || !strings.Contains(err.Error(), test[2]) {
			t.Errorf("%s: error %v", test[1], err)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	r := rand.New(rand.NewSource(2))
	f.Add([]byte(`{}`))
	for range 3 {
		f.Add(AppendJSON(nil, randomTask(r)))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		task, err := ParseJSON(line, json.Unmarshal)
		if err != nil {
			return
		}
		AppendJSON(nil, task)
	})
}
