// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"internal/taskrecord"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// query is what tests select. A program that is started again goes on with what it selected before.
var query = url.Values{"slow": {"1"}}

// quick is a pace for tests.
var quick = pace{2 * time.Second, time.Second, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}

// A server makes up records, and answers as one does that records tasks: with those in its ring, or with
// those that are made from then on.
type server struct {
	mu     sync.Mutex
	grown  *sync.Cond
	ring   []*taskrecord.Record // the newest ones
	most   int                  // in it
	first  int                  // the number of its first one
	ends   int                  // how many answers have been cut off
	asked  []string             // queries
	Server *taskrecord.Server
	refuse bool // to answer
	n      int
}

func newServer(name string, most int) *server {
	s := &server{most: most, Server: &taskrecord.Server{Name: name, PID: 1, Start: 1}}
	s.grown = sync.NewCond(&s.mu)
	return s
}

// add makes n records.
func (s *server) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.n++
		t := &taskrecord.Record{Server: s.Server, Kind: "GET /", Flags: taskrecord.Sampled, Start: int64(s.n) * 1e6, Wall: time.Millisecond, Goroutines: 1}
		binary.BigEndian.PutUint64(t.Trace[:], uint64(s.n))
		copy(t.Trace[8:], s.Server.Name)
		t.Span[0] = 1
		s.ring = append(s.ring, t)
	}
	if over := len(s.ring) - s.most; over > 0 {
		s.ring = slices.Delete(s.ring, 0, over)
		s.first += over
	}
	s.grown.Broadcast()
}

// ServeHTTP answers as net/http/pprof does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.RawQuery)
	if s.refuse {
		http.Error(w, "tasks are not recorded", http.StatusServiceUnavailable)
		return
	}
	seconds, _ := strconv.Atoi(r.URL.Query().Get("seconds"))
	at, lost := s.first, 0
	if seconds > 0 {
		at = s.first + len(s.ring)
	}
	fw := taskrecord.NewFileWriter(w, s.Server)
	progress := func() taskrecord.Progress {
		return taskrecord.Progress{Places: taskrecord.RingPlaces{{Ring: 0, Next: uint64(at)}}, Lost: int64(lost)}
	}
	fw.Mark(&taskrecord.Mark{Process: s.Server.Name[:1], Progress: progress()})
	w.(http.Flusher).Flush()
	over, ends := false, s.ends
	context.AfterFunc(r.Context(), s.grown.Broadcast)
	if seconds > 0 {
		defer time.AfterFunc(time.Duration(seconds)*time.Second, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			over = true
			s.grown.Broadcast()
		}).Stop()
	}
	for r.Context().Err() == nil {
		for ; at < s.first+len(s.ring); at++ {
			if at < s.first {
				lost += s.first - at
				at = s.first
			}
			x := *s.ring[at-s.first]
			fw.At = progress()
			fw.At.Places[0].Next++
			if fw.Write(&x) != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		if s.ends > ends {
			panic(http.ErrAbortHandler)
		}
		if over || seconds == 0 {
			break
		}
		s.grown.Wait()
	}
	fw.Mark(&taskrecord.Mark{End: true, Process: s.Server.Name[:1], Progress: progress()})
}

// kept returns the numbers of the records in a folder, in order, and the bytes of its files that are none.
func kept(t *testing.T, dir string) (list []int, skipped int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // it has just made room
		}
		if err != nil {
			t.Fatal(err)
		}
		r := taskrecord.NewFileReader(bytes.NewReader(data))
		for {
			x, err := r.Next()
			if err != nil {
				break
			}
			list = append(list, int(binary.BigEndian.Uint64(x.Trace[:])))
		}
		skipped += r.Skipped()
	}
	slices.Sort(list)
	return list, skipped
}

// all checks that a list is the numbers from one to another.
func all(t *testing.T, list []int, from, to int) {
	t.Helper()
	for i, n := range list {
		if n != from+i {
			t.Fatalf("record %d at %d, want %d to %d once each, of %d", n, i, from, to, len(list))
		}
	}
	if len(list) != to-from+1 {
		t.Fatalf("%d records, want %d to %d", len(list), from, to)
	}
}

// saved returns a folder's ledger. It may not have the last records yet.
func saved(t *testing.T, dir string) *ledger {
	t.Helper()
	l := new(ledger)
	if err := l.load(dir); err != nil {
		t.Fatal(err)
	}
	return l
}

// balance checks a folder's ledger against its files.
func balance(t *testing.T, dir string) *ledger {
	t.Helper()
	l := saved(t, dir)
	list, _ := kept(t, dir)
	if n := l.records(); n != int64(len(list)) || l.Read != l.Twice+l.TooLarge+l.Removed+l.Older+n {
		t.Errorf("%d records in files; the ledger has %+v", len(list), l)
	}
	return l
}

// A keeper is a run of Run.
type keeper struct {
	stop   func() (stderr string, err error)
	stderr *messages
}

// messages are what a program has said so far.
type messages struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.buf.Write(b)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.buf.String()
}

func start(t *testing.T, dir string, most int64, urls ...string) keeper {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr := new(messages)
	done := make(chan error, 1)
	go func() {
		done <- Archiver{Dir: dir, Bytes: most, URLs: urls, Query: query, Stderr: stderr, pace: quick}.Run(ctx)
	}()
	stop := sync.OnceValues(func() (string, error) {
		cancel()
		err := <-done
		return stderr.String(), err
	})
	t.Cleanup(func() { stop() })
	return keeper{stop, stderr}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after 30 s there is not: %s", what)
}

func has(t *testing.T, dir string, n int) func() bool {
	return func() bool {
		list, _ := kept(t, dir)
		return len(list) > 0 && list[len(list)-1] == n
	}
}

// noGap is that no gap is counted: one is as soon as there may be one, until what was in it is read.
func noGap(t *testing.T, dir string) func() bool {
	return func() bool { return saved(t, dir).Gaps == 0 }
}

// set sets whether the server refuses to answer. What it has begun to answer breaks off.
func (s *server) set(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
	s.ends++
	s.grown.Broadcast()
}

// queries returns how many there were.
func (s *server) queries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func serve(t *testing.T, s *server) (url string) {
	t.Helper()
	hs := httptest.NewServer(s)
	t.Cleanup(hs.Close)
	return hs.URL + "/debug/pprof/tasks?public=1"
}

// TestStreams tests that streams that follow each other have each record once, of each of two servers.
func TestStreams(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	a, b := newServer("a", 1000), newServer("b", 1000)
	b.n = 1 << 20
	a.add(100) // before anyone reads
	k := start(t, dir, least, serve(t, a), serve(t, b))
	last := 100
	// Six queries of each are four streams at least, and each overlaps with the next one.
	until(t, "a sixth query", func() bool {
		a.add(7)
		b.add(3)
		last += 7
		return a.queries() >= 6 && b.queries() >= 6
	})
	until(t, "the last records", func() bool {
		list, _ := kept(t, dir)
		i, _ := slices.BinarySearch(list, 1<<20)
		return i == last && len(list) == last+b.n-1<<20
	})
	until(t, "what may have been missing", noGap(t, dir))
	stderr, err := k.stop()
	if err != nil || strings.Contains(stderr, "again") || strings.Contains(stderr, "gap") {
		t.Errorf("%v, messages\n%s", err, stderr)
	}
	list, skipped := kept(t, dir)
	i, _ := slices.BinarySearch(list, 1<<20)
	all(t, list[:i], 1, last)
	all(t, list[i:], 1<<20+1, b.n)
	l := balance(t, dir)
	if l.Gaps != 0 || l.Lost != 0 || l.Removed != 0 || skipped != 0 || l.Twice == 0 || Missing(dir) != "" {
		t.Errorf("%+v, %q", l, Missing(dir))
	}
	for _, q := range a.asked {
		if !strings.Contains(q, "format=tasks&public=1") || !strings.HasSuffix(q, "slow=1") {
			t.Errorf("a query was %q", q)
		}
	}
}

// TestAway tests that a server that goes away is read again: without a gap if its ring has all that it
// recorded meanwhile, and with one if it does not.
func TestAway(t *testing.T) {
	dir := t.TempDir()
	s := newServer("a", 100)
	k := start(t, dir, least, serve(t, s))
	s.add(50)
	until(t, "the first records", has(t, dir, 50))
	times := 0
	away := func(n int) {
		t.Helper()
		times++
		before := s.queries()
		s.set(true)
		until(t, "a query that is refused", func() bool { return s.queries() > before })
		s.add(n)
		s.set(false)
		last := s.n
		until(t, "the records of a server that was away", has(t, dir, last))
		until(t, "a message that it is read again", func() bool { return strings.Count(k.stderr.String(), "it is read again") == times })
	}
	away(60)
	list, _ := kept(t, dir)
	all(t, list, 1, 110)
	away(1000) // and the ring has 100 of them
	until(t, "the gap", func() bool { return saved(t, dir).Gaps > 0 })
	away(100) // and the ring has all of them, and no other one
	away(101)
	until(t, "another gap", func() bool { return saved(t, dir).Gaps > 1 })
	s.add(5)
	until(t, "the last record", has(t, dir, 1316))
	stderr, err := k.stop()
	if err != nil || strings.Count(stderr, `503 Service Unavailable: "tasks are not recorded"`) != 4 || strings.Count(stderr, "it is read again") != 4 {
		t.Errorf("%v, messages\n%s", err, stderr)
	}
	list, _ = kept(t, dir)
	i, _ := slices.BinarySearch(list, 111)
	all(t, list[:i], 1, 110)
	list = list[i:]
	i, _ = slices.BinarySearch(list, 1211)
	all(t, list[:i], 1011, 1210)
	all(t, list[i:], 1212, 1316)
	if l := balance(t, dir); l.Gaps != 2 || l.Gap <= 0 || !strings.HasPrefix(Missing(dir), "in 2 gaps of ") || !strings.HasSuffix(Missing(dir), "s together there may have been more") {
		t.Errorf("%+v, %s", l, Missing(dir))
	}
}

// TestLost tests that the ledger has what a server has lost before it was read.
func TestLost(t *testing.T) {
	dir := t.TempDir()
	s := newServer("a", 10)
	k := start(t, dir, least, serve(t, s))
	s.add(1)
	until(t, "the first record", has(t, dir, 1))
	s.add(110) // at once: a reader gets the last 10
	until(t, "the last record", has(t, dir, 111))
	until(t, "the stream's end", func() bool { return saved(t, dir).Lost > 0 })
	if _, err := k.stop(); err != nil {
		t.Error(err)
	}
	list, _ := kept(t, dir)
	if l := balance(t, dir); int(l.Lost)+len(list) != 111 || len(list) != 11 {
		t.Errorf("%d records and %+v", len(list), l)
	}
}

// TestRotate tests that the files stay within the bound, and that the newest records are there.
func TestRotate(t *testing.T) {
	dir := t.TempDir()
	s := newServer("a", 1<<20)
	s.Server.Name = strings.Repeat("a long name ", 300)
	k := start(t, dir, least, serve(t, s))
	until(t, "a record that was removed", func() bool {
		from := s.n
		s.add(2000)
		s.mu.Lock()
		for _, x := range s.ring[from:] {
			for i := range 20 {
				x.Notes = append(x.Notes, taskrecord.Note{Key: fmt.Sprint(x.Trace, i), Value: strings.Repeat("x", 100)})
			}
		}
		s.mu.Unlock()
		size := int64(0)
		files, _ := os.ReadDir(dir)
		for _, x := range files {
			if fi, err := x.Info(); err == nil {
				size += fi.Size()
			}
		}
		if size > least {
			t.Fatalf("files of %d bytes", size)
		}
		return saved(t, dir).Removed > 2000
	})
	last := s.n
	until(t, "the last record", has(t, dir, last))
	until(t, "what may have been missing", noGap(t, dir))
	if _, err := k.stop(); err != nil {
		t.Error(err)
	}
	// A stream and what the server still had were read side by side. So files need not be in the order of
	// records.
	list, _ := kept(t, dir)
	if n := len(slices.Compact(slices.Clone(list))); n != len(list) {
		t.Errorf("%d of %d records are there twice", len(list)-n, len(list))
	}
	if l := balance(t, dir); l.Removed != int64(last-len(list)) || l.Gaps != 0 || l.Lost != 0 || len(l.Files) < 4 {
		t.Errorf("%d of %d records; %+v", len(list), last, l)
	}
}

// TestResume tests that a program that is started again, after it ended, was killed while it wrote, or
// while it removed a file, goes on: nothing is twice, and nothing is missing that the server still has.
func TestResume(t *testing.T) {
	if dir := os.Getenv("PMU_TEST_KEEP"); dir != "" {
		Archiver{Dir: dir, Bytes: least, URLs: []string{os.Getenv("PMU_TEST_URL")}, Query: query, Stderr: os.Stderr, pace: quick}.Run(context.Background())
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := newServer("a", 100_000)
	at := serve(t, s)
	for i := range 5 {
		cmd := exec.Command(exe, "-test.run=^TestResume$")
		cmd.Env = append(os.Environ(), "PMU_TEST_KEEP="+dir, "PMU_TEST_URL="+at)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		from := s.n
		s.add(1000)
		until(t, "records of this run", func() bool {
			s.add(100)
			list, _ := kept(t, dir)
			return len(list) > from+500
		})
		cmd.Process.Kill()
		cmd.Wait()
		// What a file has after a write that did not end.
		l := saved(t, dir)
		name := filepath.Join(dir, l.Files[len(l.Files)-1].Name)
		if fi, err := os.Stat(name); err != nil || i%2 == 0 && os.Truncate(name, fi.Size()-20) != nil {
			t.Fatal(err)
		}
		s.add(50)
	}
	k := start(t, dir, least, at)
	until(t, "the last record", has(t, dir, s.n))
	until(t, "what may have been missing", noGap(t, dir))
	if _, err := k.stop(); err != nil {
		t.Error(err)
	}
	list, skipped := kept(t, dir)
	all(t, list, 1, s.n)
	if l := balance(t, dir); skipped == 0 || l.Damaged != skipped || l.Gaps != 0 || l.Removed != 0 {
		t.Errorf("%d bytes skipped; %+v", skipped, l)
	}
}
