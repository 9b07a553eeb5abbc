// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// written returns a file of tasks, and where each record ends in it.
func written(t testing.TB, s *Server, tasks ...*Record) (file []byte, ends []int) {
	t.Helper()
	var buf bytes.Buffer
	w := NewFileWriter(&buf, s)
	for _, task := range tasks {
		if err := w.Write(task); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, buf.Len())
	}
	return buf.Bytes(), ends
}

// readAll returns all records of a file, how many bytes were skipped, and the last error.
func readAll(file []byte) (tasks []*Record, skipped int64, err error) {
	r := NewFileReader(bytes.NewReader(file))
	for {
		t, err := r.Next()
		if err != nil {
			return tasks, r.Skipped(), err
		}
		tasks = append(tasks, t)
	}
}

func mustBe(t *testing.T, got, want []*Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("record %d is\n%s\nwant\n%s", i, dump(got[i]), dump(want[i]))
		}
	}
}

func dump(t *Record) string { return fmt.Sprintf("%+v of %+v, usual %+v", *t, t.Server, t.Usual) }

func manyTasks(r *rand.Rand, n int, one func(*rand.Rand) *Record) []*Record {
	tasks := make([]*Record, n)
	for i := range tasks {
		tasks[i] = one(r)
		if i > 0 && r.Intn(8) != 0 {
			tasks[i].Server = tasks[i-1].Server
		}
	}
	return tasks
}

func TestFileRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, one := range []func(*rand.Rand) *Record{anyTask, randomTask} {
		for range 20 {
			tasks := manyTasks(r, 50, one)
			file, _ := written(t, nil, tasks...)
			got, skipped, err := readAll(file)
			if skipped != 0 || err != io.EOF {
				t.Fatalf("skipped %d bytes, error %v", skipped, err)
			}
			mustBe(t, got, tasks)
			for i := range got[1:] {
				if (tasks[i].Server == tasks[i+1].Server) != (got[i].Server == got[i+1].Server) {
					t.Fatal("records do not share their server as the tasks did")
				}
			}
		}
	}
}

// leaves calls f for each field in v that is not made of others, after it has given it
// a value, with all others zero but those on the way to it.
func leaves(v reflect.Value, path string, f func(path string)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Clock]() {
			v.Set(reflect.ValueOf(Clock{N: 2, Overflow: true, Entry: [MaxClock]ClockEntry{{1, 2}, {3, 4}}}))
			f(path)
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		leaves(v.Index(1), path+"[1]", f)
		v.SetZero()
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		leaves(v.Elem(), path, f)
		v.SetZero()
	case reflect.String:
		v.SetString("<x>")
		f(path)
		v.SetZero()
	case reflect.Bool:
		v.SetBool(true)
		f(path)
		v.SetZero()
	case reflect.Int, reflect.Int64:
		for _, x := range []int64{math.MinInt64, -1, 1, math.MaxInt64} {
			v.SetInt(x >> (64 - v.Type().Bits()))
			f(path)
		}
		v.SetZero()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		for _, x := range []uint64{1, 1<<v.Type().Bits() - 1} {
			v.SetUint(x)
			f(path)
		}
		v.SetZero()
	default:
		panic("unknown kind of field: " + path)
	}
}

// TestFileFields fails if a field is added to Record that files do not hold.
func TestFileFields(t *testing.T) {
	n := 0
	task := new(Record)
	v := reflect.ValueOf(task).Elem()
	leaves(v, "Task", func(path string) {
		n++
		want := *task
		if want.Server == nil {
			want.Server = new(Server)
		}
		file, _ := written(t, nil, &want)
		got, _, err := readAll(file)
		if err != io.EOF || len(got) != 1 || !reflect.DeepEqual(got[0], &want) {
			t.Errorf("%s is lost: %d records, error %v", path, len(got), err)
		}
	})
	if n < 200 {
		t.Errorf("only %d fields", n)
	}
}

func TestFilePartNumbers(t *testing.T) {
	// Parts are in files by number.
	const want = "running preempted runnable syscall C chan select mutex sync network sleep coroutine GC stop-the-world other"
	var got []string
	for p := range NumParts {
		got = append(got, p.String())
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("parts are %s\nthe file format says %s", s, want)
	}
}

// TestFileTruncated cuts a file of two sections everywhere.
func TestFileTruncated(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	tasks := []*Record{randomTask(r), randomTask(r), randomTask(r), randomTask(r)}
	for _, task := range tasks {
		task.Timeline = task.Timeline[:min(1, len(task.Timeline))]
	}
	tasks[1].Server = tasks[0].Server
	tasks[3].Server = tasks[2].Server
	file, ends := written(t, nil, tasks...)
	headerEnd := []int{headerFrame + uint24(file[9:]), ends[1] + headerFrame + uint24(file[ends[1]+9:])}
	boundary := map[int]bool{0: true, headerEnd[0]: true, headerEnd[1]: true}
	for _, e := range ends {
		boundary[e] = true
	}
	for n := range len(file) + 1 {
		if n > 1000 && len(file)-n > 1000 && n%7 != 0 && !boundary[n] && !boundary[n-1] {
			continue
		}
		got, skipped, err := readAll(file[:n])
		whole, last := 0, 0
		for _, e := range ends {
			if e <= n {
				whole++
			}
		}
		for b := range boundary {
			if b <= n {
				last = max(last, b)
			}
		}
		want := io.ErrUnexpectedEOF
		if boundary[n] {
			want = io.EOF
		}
		if err != want || skipped != int64(n-last) {
			t.Fatalf("cut at %d: error %v, want %v; skipped %d bytes, want %d", n, err, want, skipped, n-last)
		}
		mustBe(t, got, tasks[:whole])
	}
}

// TestFileAppended appends to a file that was cut anywhere: all records of the second
// part are there.
func TestFileAppended(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	first := manyTasks(r, 3, randomTask)
	second := manyTasks(r, 3, randomTask)
	a, ends := written(t, nil, first...)
	b, _ := written(t, nil, second...)
	for n := 0; n <= len(a); n += 1 + r.Intn(20) {
		var want []*Record
		for i, e := range ends {
			if e <= n {
				want = append(want, first[i])
			}
		}
		got, _, err := readAll(append(a[:n:n], b...))
		if err != io.EOF {
			t.Fatalf("cut at %d: %v", n, err)
		}
		mustBe(t, got, append(want, second...))
	}
}

// TestFileDamaged changes, adds or removes bytes. The rest must be read, nothing else
// may be, and all bytes must be accounted for.
func TestFileDamaged(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 150 {
		// Tasks that say what they are, so that a wrong name shows.
		var tasks []*Record
		for i := range 20 {
			task := randomTask(r)
			task.Goroutine = uint64(i)
			if i > 0 && i%7 != 0 {
				task.Server = tasks[i-1].Server
			}
			tasks = append(tasks, task)
		}
		file, ends := written(t, nil, tasks...)
		damaged := bytes.Clone(file)
		at := r.Intn(len(file))
		n := min(1+r.Intn(30), len(file)-at)
		switch r.Intn(3) {
		case 0:
			for i := range n {
				damaged[at+i] ^= byte(1 + r.Intn(255))
			}
		case 1:
			damaged = append(damaged[:at], damaged[at+n:]...)
		case 2:
			damaged = append(append(damaged[:at:at], damaged[at/2:at/2+min(n, at-at/2)]...), file[at:]...)
		}
		got, skipped, err := readAll(damaged)
		if err != io.EOF && (err != io.ErrUnexpectedEOF || skipped == 0) {
			t.Fatal(err)
		}
		before, after := 0, 0 // records that end before the damage, or are of sections that begin after it
		for i, e := range ends {
			if e <= at {
				before++
			}
			if i%7 == 0 && (i == 0 || ends[i-1] >= at+n) && at+n < len(file) && i > 0 {
				after = max(after, len(tasks)-i)
			}
		}
		if len(got) < before+after {
			t.Fatalf("%d records; %d before the damage, and %d after it, are not damaged", len(got), before, after)
		}
		for _, g := range got {
			if want := tasks[g.Goroutine]; !reflect.DeepEqual(g, want) {
				t.Fatalf("wrong record\n%s\nwant\n%s", dump(g), dump(want))
			}
		}
		if len(got) < len(tasks) && skipped == 0 {
			t.Fatal("records are lost, but no bytes were skipped")
		}
	}
}

// TestFileLostString damages the record that has a string, and reads one that uses it.
func TestFileLostString(t *testing.T) {
	s := &Server{Name: "s"}
	kinds := []string{"a", "b", "c", "b", "a", "d", "c", "d"}
	var tasks []*Record
	for _, k := range kinds {
		tasks = append(tasks, &Record{Server: s, Kind: k})
	}
	file, ends := written(t, nil, tasks...)
	file[ends[1]-1] ^= 1 // the end of the first "b"
	got, skipped, err := readAll(file)
	if want := int64(ends[1] - ends[0] + ends[3] - ends[2]); skipped != want || err != io.EOF {
		t.Errorf("skipped %d bytes, error %v; want %d, those of the records of kind b", skipped, err, want)
	}
	mustBe(t, got, []*Record{tasks[0], tasks[2], tasks[4], tasks[5], tasks[6], tasks[7]})
}

// TestFilePrefix damages each byte of a record's frame: only that record may be lost.
func TestFilePrefix(t *testing.T) {
	s := &Server{Name: "s"}
	var tasks []*Record
	for i := range 4 {
		tasks = append(tasks, &Record{Server: s, Goroutine: uint64(i)})
	}
	file, ends := written(t, nil, tasks...)
	for i := ends[0]; i < ends[1]; i++ {
		damaged := bytes.Clone(file)
		damaged[i] ^= 0x10
		got, skipped, err := readAll(damaged)
		if skipped != int64(ends[1]-ends[0]) || err != io.EOF {
			t.Fatalf("byte %d: skipped %d bytes, error %v", i, skipped, err)
		}
		mustBe(t, got, []*Record{tasks[0], tasks[2], tasks[3]})
	}
}

// TestFileSectionsDiffer reads records without their header after those of another
// section: they are not to be taken for that one's.
func TestFileSectionsDiffer(t *testing.T) {
	a, ends := written(t, &Server{Name: "s"}, &Record{Kind: "a"}, &Record{Kind: "b"})
	b, bends := written(t, &Server{Name: "s"}, &Record{Kind: "c"}, &Record{Kind: "d"})
	got, skipped, err := readAll(append(a[:ends[1]:ends[1]], b[bends[0]:]...))
	if len(got) != 2 || skipped != int64(bends[1]-bends[0]) || err != io.ErrUnexpectedEOF {
		t.Errorf("%d records, skipped %d bytes, error %v", len(got), skipped, err)
	}
}

// TestFilePlanted puts whole files into notes: they are not to be read, even if the
// record with the note is damaged.
func TestFilePlanted(t *testing.T) {
	planted, _ := written(t, &Server{Name: "planted"}, &Record{Kind: "planted"})
	task := &Record{Server: &Server{Name: "s"}, Kind: "true", Notes: []Note{{"k", string(planted)}}}
	file, ends := written(t, nil, task, &Record{Server: task.Server, Kind: "next"})
	for i := range ends[0] {
		damaged := bytes.Clone(file)
		damaged[i] ^= 4
		got, _, _ := readAll(damaged)
		for _, g := range got {
			if g.Kind != "next" {
				t.Fatalf("byte %d: read a record of %q", i, g.Kind)
			}
		}
	}
}

func TestFileSections(t *testing.T) {
	// Sections are closed in time, and their strings can be read again.
	s := &Server{Name: "s"}
	var tasks []*Record
	for i := range 3000 {
		tasks = append(tasks, &Record{Server: s, Kind: fmt.Sprint("kind ", i%100), Notes: []Note{{Value: strings.Repeat("x", 300) + fmt.Sprint(i)}}})
	}
	file, _ := written(t, nil, tasks...)
	if n, want := bytes.Count(file, []byte(magic)), len(file)/sectionSize; n < want || n > want+1 {
		t.Errorf("%d sections in %d bytes", n, len(file))
	}
	got, _, err := readAll(file)
	if err != io.EOF {
		t.Fatal(err)
	}
	mustBe(t, got, tasks)
	if got[0].Server != got[len(got)-1].Server {
		t.Error("a server for each section")
	}

	// As many strings as possible, in small records.
	tasks = nil
	for i := range 3 {
		task := &Record{Server: s}
		for j := range 60_000 {
			task.Events = append(task.Events, fmt.Sprint(i, j))
		}
		tasks = append(tasks, task)
	}
	file, _ = written(t, nil, tasks...)
	got, _, err = readAll(file)
	if err != io.EOF {
		t.Fatal(err)
	}
	mustBe(t, got, tasks)
}

func TestFileTooLarge(t *testing.T) {
	s := &Server{Name: "s"}
	names := func(n int) (e []string) {
		for i := range n {
			e = append(e, fmt.Sprint(i))
		}
		return e
	}
	large := make([]Note, 20)
	for i := range large {
		large[i].Value = strings.Repeat(string(rune('a'+i)), 60_000)
	}
	deep := make([]Frame, 40_000)
	for _, test := range []struct {
		t    *Record
		want string
	}{
		{&Record{Kind: strings.Repeat("x", maxString+1)}, "a string of 65537 bytes; at most 65536"},
		{&Record{Notes: large}, "the record has 12"},
		{&Record{Events: names(maxStrings)}, "more strings than a section can hold"},
		{&Record{Timeline: []Stretch{{Stack: deep}}}, "a string of 120000 bytes"},
		{&Record{Before: Clock{N: MaxClock + 1}}, "a clock of 9 servers"},
		{&Record{Server: &Server{Name: strings.Repeat("x", maxHeader)}}, "name and events of the server have"},
	} {
		for before := range 2 {
			var buf bytes.Buffer
			w := NewFileWriter(&buf, s)
			var want []*Record
			for range before {
				want = append(want, &Record{Server: s, Kind: "before", Events: names(3)})
				if err := w.Write(want[0]); err != nil {
					t.Fatal(err)
				}
			}
			n := buf.Len()
			if err := w.Write(test.t); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if buf.Len() != n {
				t.Errorf("%s: wrote %d bytes", test.want, buf.Len()-n)
			}
			after := &Record{Server: s, Kind: "after", Events: names(10), Notes: large[:1]} // strings of the failed one
			if err := w.Write(after); err != nil {
				t.Fatal(err)
			}
			got, skipped, err := readAll(buf.Bytes())
			if skipped != 0 || err != io.EOF {
				t.Errorf("%s: skipped %d bytes, error %v", test.want, skipped, err)
			}
			mustBe(t, got, append(want, after))
		}
	}
	// At the limit it works.
	task := &Record{Server: s, Kind: strings.Repeat("x", maxString)}
	file, _ := written(t, nil, task)
	got, _, _ := readAll(file)
	mustBe(t, got, []*Record{task})
}

// A fullDisk takes so many bytes, and then again all, after an error.
type fullDisk struct {
	bytes.Buffer
	left int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left < len(p) {
		n, _ := d.Buffer.Write(p[:d.left])
		d.left = math.MaxInt
		return n, errors.New("disk full")
	}
	d.left -= len(p)
	return d.Buffer.Write(p)
}

func TestFileWriteError(t *testing.T) {
	s := &Server{Name: "s"}
	for left := range 400 {
		d := &fullDisk{left: left}
		w := NewFileWriter(d, s)
		var want []*Record
		failed := 0
		for i := range 6 {
			task := &Record{Server: s, Kind: fmt.Sprint("kind ", i/2)}
			if err := w.Write(task); err != nil {
				failed++
			} else {
				want = append(want, task)
			}
		}
		got, _, err := readAll(d.Bytes())
		if err != io.EOF && (err != io.ErrUnexpectedEOF || len(want) < 5) || failed > 1 {
			t.Fatalf("after %d bytes: %v; %d failed", left, err, failed)
		}
		mustBe(t, got, want)
	}
}

func TestFileVersion(t *testing.T) {
	file, _ := written(t, &Server{Name: "s"}, &Record{Kind: "a"})
	file[len(magic)] = 9 // and damaged, therefore
	if _, skipped, err := readAll(file); err != io.ErrUnexpectedEOF || skipped != int64(len(file)) {
		t.Errorf("damaged version: error %v", err)
	}
	file = []byte(magic + "\x09\x00\x00\x00\x00\x00\x00\x00")
	setHeaderCRC(file)
	_, _, err := readAll(file)
	if err == nil || !strings.Contains(err.Error(), "version 9 of the format, and this program reads version 1") {
		t.Errorf("error %v", err)
	}

	_, _, err = readAll([]byte("2026/11/24 16:00:00 started\n"))
	if err == nil || !strings.Contains(err.Error(), "28 bytes without a header: this is not a file of task records") {
		t.Errorf("a log file: error %v", err)
	}
	if _, _, err := readAll(nil); err != io.EOF {
		t.Errorf("an empty file: error %v", err)
	}
	r := NewFileReader(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(file))))
	if _, err := r.Next(); err != iotest.ErrTimeout {
		t.Errorf("error %v, want that of the underlying reader", err)
	}
}

// TestFileForward reads a header and a record with more fields than are known, and one
// with more parts.
func TestFileForward(t *testing.T) {
	s := &Server{ID: 3, Name: "s", Events: []string{"e"}}
	task := &Record{Server: s, Kind: "kind", Threshold: 9}
	var buf bytes.Buffer
	w := NewFileWriter(&buf, nil)
	for range 3 {
		if err := w.Write(task); err != nil {
			t.Fatal(err)
		}
	}
	file := moreFields(t, buf.Bytes())
	got, skipped, err := readAll(file)
	if skipped != 0 || err != io.EOF {
		t.Fatalf("skipped %d bytes, error %v", skipped, err)
	}
	mustBe(t, got, []*Record{task, task, task})

	u := Usage{Parts: [NumParts]time.Duration{5, NumParts - 1: 7}}
	c := coder{}
	c.usage(&u)
	c = coder{reading: true, b: append([]byte{0x81, 0x80, 0x41, 10, 14, 22}, c.b[5:]...)}
	u = Usage{}
	c.usage(&u)
	if c.err != nil || u.Parts[0] != 5 || u.Parts[NumParts-1] != 7+11 || len(c.b) != 0 {
		t.Errorf("parts %v, error %v, %d bytes left", u.Parts, c.err, len(c.b))
	}
}

// TestFileCallers reads a record of before it was known who made calls, and one in which that is known
// of too many.
func TestFileCallers(t *testing.T) {
	s := &Server{ID: 3, Name: "s"}
	task := &Record{Server: s, Calls: []Call{{Kind: "a", Goroutine: 300, Ender: 7}, {Kind: "b", Goroutine: 300, Ender: 300}}}
	w := coder{number: make(map[string]uint64)}
	w.task(task, s)
	n := len(w.b)
	w.callers(task.Calls)
	callers := len(w.b) - n
	read := func(b []byte) (*Record, error) {
		got := new(Record)
		c := coder{reading: true, b: b, table: []tableString{{}, {s: "a"}, {s: "b"}}, stacks: make(map[uint64][]Frame)}
		c.task(got, s)
		return got, c.err
	}
	if got, err := read(w.b[:n]); err != nil || !reflect.DeepEqual(got.Calls, task.Calls) {
		t.Errorf("calls %+v, error %v", got.Calls, err)
	}
	got, err := read(w.b[:n-callers])
	if err != nil || len(got.Calls) != 2 || got.Calls[0] != (Call{Kind: "a"}) || got.Calls[1] != (Call{Kind: "b"}) {
		t.Errorf("an older record: calls %+v, error %v", got.Calls, err)
	}
	for k := range 2 { // a newer one that leaves out what is 0
		w.b = w.b[:n-callers]
		w.callers(task.Calls[:k])
		got, err := read(w.b)
		if err != nil || len(got.Calls) != 2 || got.Calls[1] != (Call{Kind: "b"}) || k == 1 && got.Calls[0] != task.Calls[0] {
			t.Errorf("%d callers of two calls: calls %+v, error %v", k, got.Calls, err)
		}
	}
	w.b = w.b[:n-callers]
	w.callers(task.Calls)
	b := slices.Clone(w.b[:n])
	b[n-callers] = 3
	if _, err := read(append(b, 0, 0)); err != errMalformed {
		t.Errorf("three callers of two calls: error %v", err)
	}
}

func TestFileReadsOneByOne(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	tasks := manyTasks(r, 20, randomTask)
	file, _ := written(t, nil, tasks...)
	for _, rd := range []io.Reader{
		iotest.OneByteReader(bytes.NewReader(file)),
		iotest.HalfReader(bytes.NewReader(file)),
		iotest.DataErrReader(bytes.NewReader(file)),
	} {
		rr := NewFileReader(rd)
		for i, want := range tasks {
			got, err := rr.Next()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("record %d: %v", i, err)
			}
		}
		if _, err := rr.Next(); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// A noMore reads what has been written to it. To read more than that is an error.
type noMore struct{ bytes.Buffer }

func (n *noMore) Read(p []byte) (int, error) {
	if n.Len() == 0 {
		return 0, errors.New("waits for more than there is")
	}
	return n.Buffer.Read(p)
}

// TestFileLive reads a record as soon as it is written.
func TestFileLive(t *testing.T) {
	live := new(noMore)
	w := NewFileWriter(live, nil)
	r := NewFileReader(live)
	for i := range 10 {
		if err := w.Write(&Record{Goroutine: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		got, err := r.Next()
		if err != nil || got.Goroutine != uint64(i) {
			t.Fatal(got, err)
		}
	}
}

func TestFilePublic(t *testing.T) {
	task := &Record{Kind: "k", Notes: []Note{{"password", "secret"}}}
	var buf bytes.Buffer
	w := NewFileWriter(&buf, nil)
	w.Public = true
	if err := w.Write(task); err != nil {
		t.Fatal(err)
	}
	got, _, _ := readAll(buf.Bytes())
	if len(got) != 1 || got[0].Notes != nil || got[0].Kind != "k" {
		t.Errorf("read %+v", got)
	}
	if bytes.Contains(buf.Bytes(), []byte("password")) || bytes.Contains(buf.Bytes(), []byte("secret")) {
		t.Error("the note is in the file")
	}
	if len(task.Notes) != 1 {
		t.Error("the task was changed")
	}
}

// TestFileMemory reads what claims to be large, and is not, and what repeats a long stack.
func TestFileMemory(t *testing.T) {
	stack := make([]Frame, 5000)
	for i := range stack {
		stack[i] = Frame{"f", "g", i}
	}
	task := &Record{}
	for range 500 {
		task.Timeline = append(task.Timeline, Stretch{Stack: stack, Waker: Waker{Stack: stack}})
	}
	file, _ := written(t, nil, task)
	for _, test := range []struct {
		name string
		file []byte
	}{
		{"stacks", file},
		{"length", claims(t)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(test.file)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20+100*uint64(len(test.file)) {
			t.Errorf("%s: %d bytes for a file of %d", test.name, n, len(test.file))
		}
	}
}

func FuzzReader(f *testing.F) {
	r := rand.New(rand.NewSource(6))
	for range 4 {
		task := new(Record)
		anyValue(r, reflect.ValueOf(task).Elem(), 2)
		file, _ := written(f, task.Server, task, &Record{Kind: "a"}, &Record{Kind: "a"})
		if len(file) < 5000 {
			f.Add(file)
		}
		_, records := bodies(f, file)
		f.Add([]byte(records[0]))
	}
	f.Add(claims(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		tasks, skipped, err := readAll(file)
		if err == nil || skipped < 0 || skipped > int64(len(file)) {
			t.Errorf("skipped %d of %d bytes, error %v", skipped, len(file), err)
		}
		// Bodies as such, past the checksums, which the fuzzer does not hit.
		c := coder{reading: true, b: file, table: []tableString{{}}, stacks: make(map[uint64][]Frame)}
		c.define()
		one := &Record{Server: new(Server)}
		c.task(one, one.Server)
		if c.err == nil {
			tasks = append(tasks, one)
		}
		// What was read can be written, and is the same then, unless it does not fit any more
		// or has stacks of no frames' strings.
		var buf bytes.Buffer
		w := NewFileWriter(&buf, nil)
		var want []*Record
		for _, task := range tasks {
			if err := w.Write(task); err == nil {
				want = append(want, task)
			}
		}
		got, _, err := readAll(buf.Bytes())
		if err != io.EOF {
			t.Fatal(err)
		}
		mustBe(t, got, want)
	})
}

// TestWriteTogether has several write one record at the same time: to write is not to change it. Only
// the race detector sees the difference.
func TestWriteTogether(t *testing.T) {
	x := randomTask(rand.New(rand.NewSource(1)))
	x.Timeline = append(x.Timeline, Stretch{OnThread: true}, Stretch{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 100 {
				w := NewFileWriter(io.Discard, nil)
				if err := w.Write(x); err != nil {
					t.Error(err)
				}
				runtime.Gosched()
			}
			AppendJSON(nil, x)
			x.Causes()
			x.WriteText(io.Discard)
		})
	}
	wg.Wait()
}
