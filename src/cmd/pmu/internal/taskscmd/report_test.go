// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"internal/taskrecord"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode/utf8"
)

// TestReportText compares the report with the files in testdata.
func TestReportText(t *testing.T) {
	front, back := tasksOf(50)
	front[7].Kind, front[7].Flags = "evil\x1b[31m\tkind that is longer than a column of a table", taskrecord.Failed
	front[9].Lost.Before = 3
	for _, test := range []struct {
		name  string
		tasks []*taskrecord.Record
	}{{"report", append(front, back...)}, {"none", nil}} {
		var b bytes.Buffer
		if err := writeReport(&b, slices.Values(test.tasks), nil); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("testdata/" + test.name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, b.Bytes(), want)
		}
	}
}

// TestReportOdd reports what there may be in a file.
func TestReportOdd(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var tasks []*taskrecord.Record
	for range 100 {
		v, _ := quick.Value(reflect.TypeFor[taskrecord.Record](), r)
		x := v.Interface().(taskrecord.Record)
		tasks = append(tasks, &x)
	}
	var b bytes.Buffer
	if err := writeReport(&b, slices.Values(tasks), nil); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }) {
		t.Errorf("not printable: %q", text)
	}
}

// TestReportBounded adds tasks of more kinds than are kept.
func TestReportBounded(t *testing.T) {
	var s report
	for i := range 3 * reportKinds {
		s.add(&taskrecord.Record{Kind: strings.Repeat("k", i), Wall: 1, Flags: taskrecord.Failed})
	}
	if len(s.kinds) > reportKinds+1 || s.kinds[otherKind].tasks != 2*reportKinds || len(s.slowest) != reportSlowest {
		t.Errorf("%d kinds, %d slowest", len(s.kinds), len(s.slowest))
	}
	if s.tasks != 3*reportKinds || s.failed != s.tasks {
		t.Errorf("%d tasks, %d failed", s.tasks, s.failed)
	}
}

func TestPercentile(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var s report
	var all []time.Duration
	for range 10001 {
		d := time.Duration(r.Int63n(1 << (1 + r.Intn(40))))
		all = append(all, d)
		s.add(&taskrecord.Record{Wall: d})
	}
	slices.Sort(all)
	for _, p := range []int{1, 50, 90, 99, 100} {
		want := all[max(0, (len(all)*p+99)/100-1)]
		got := s.kinds[""].lengths.percentile(p)
		if got < want || got > want+want/32 {
			t.Errorf("p%d: got %v, want %v to %v", p, got, want, want+want/32)
		}
	}
	for i := range 64 << subBits {
		if i < 58<<subBits && (bucket(bucketEnd(i)) != i || bucket(bucketEnd(i)+1) != i+1) {
			t.Fatalf("bucket %d ends at %d", i, bucketEnd(i))
		}
	}
}

// TestReportTaken tests that the report has what the latest marks of processes say of why threads had no CPU.
func TestReportTaken(t *testing.T) {
	const known = taskrecord.ThrottledKnown | taskrecord.DelayKnown | taskrecord.StolenKnown
	var file bytes.Buffer
	w := taskrecord.NewFileWriter(&file, new(taskrecord.Server))
	for _, m := range []taskrecord.Mark{
		{Process: "p", Taken: taskrecord.Taken{Preempted: time.Second, Known: known}},
		{Process: "q", End: true, Taken: taskrecord.Taken{Preempted: 2 * time.Second, Delay: 3 * time.Second, Known: known}},
		{Process: "r", End: true}, // nothing was taken, or it is of an older release
		{Process: "p", End: true, Taken: taskrecord.Taken{Preempted: 6 * time.Second, Throttled: 5 * time.Second, Delay: 6 * time.Second, Known: known}},
	} {
		if err := w.Mark(&m); err != nil {
			t.Fatal(err)
		}
	}
	in := &input{taken: make(map[string]taskrecord.Taken)}
	if _, skipped, err := readRecords(&file, func(*taskrecord.Record) bool { return true }, in.mark); skipped > 0 || err != nil {
		t.Fatal(skipped, err)
	}
	var b bytes.Buffer
	if err := writeTaken(&b, in.taken); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"\nWhile server 1 of 3 recorded: Threads that worked for tasks had no CPU for 6 s, ", "most of it was the quota.\n",
		"\nWhile server 2 of 3 recorded: Threads that worked for tasks had no CPU for 2 s, ", "most of it was other threads, of this program or another.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "While"); n != 2 {
		t.Errorf("of %d processes, want 2:\n%s", n, text)
	}
}
