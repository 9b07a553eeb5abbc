// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"internal/taskrecord"
	"internal/testenv"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/task"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	_ "unsafe" // for go:linkname
)

// Whatever becomes of those who read records, or of the disk that they are written to,
// requests are answered, nothing is left behind, and what is lost is counted.
//
// The tests run in a process of their own, so that they can count what it has open, and
// consumers are processes, which can be stopped and killed.

const (
	isolatedEnv = "PMU_TEST_ISOLATED" // is set in the tests' process
	consumerEnv = "PMU_TEST_CONSUMER" // has the URL in a consumer's process
	stoppedEnv  = "PMU_TEST_STOPPED"  // for how long a consumer stays stopped at least: "10s"
)

// TestTaskIsolation runs the tests of isolationTests.
func TestTaskIsolation(t *testing.T) {
	if url := os.Getenv(consumerEnv); url != "" {
		consume(t, url)
		return
	}
	if os.Getenv(isolatedEnv) == "" {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestTaskIsolation$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(cmd.Environ(), isolatedEnv+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestTaskIsolation")) {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	// A ring per P is soon full.
	runtime.GOMAXPROCS(min(2, runtime.GOMAXPROCS(0)))
	startRecording(t, task.Config{})
	defer task.Stop()
	// Files that are left open are not to be closed by the garbage collector.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	// The network poller's own files stay.
	if r, w, err := os.Pipe(); err != nil {
		t.Fatal(err)
	} else {
		r.Close()
		w.Close()
	}
	few := open(t)
	few.files++         // the server's listener
	few.goroutines += 2 // the test, and its server
	for _, tt := range isolationTests {
		t.Run(tt.name, func(t *testing.T) {
			s := startIsolated(t, tt.patience)
			tt.test(s)
			if tt.patience != 0 {
				s.wantOpen(few)
				s.close()
				s = startIsolated(t, 0) // which is patient with the next consumer
			}
			s.again()
			s.wantOpen(few)
		})
	}
}

var isolationTests = []struct {
	name     string
	patience time.Duration // with consumers; 0 is the default
	test     func(s *isolated)
}{
	{"consumer killed", 0, func(s *isolated) { s.killed("json") }},
	{"consumer of a file killed", 0, func(s *isolated) { s.killed("tasks") }},
	{"consumer stopped", 0, (*isolated).stopped},
	{"consumer stopped and killed", 0, (*isolated).stoppedKilled},
	{"several consumers", 0, (*isolated).several},
	{"consumer stopped for ever", 10 * time.Millisecond, (*isolated).stoppedForEver},
	{"disk full", 0, (*isolated).diskFull},
	{"file too large", 0, (*isolated).fileTooLarge},
	{"flight recorder", 0, (*isolated).flightRecorder},
	{"flight recorder stuck", 0, (*isolated).flightStuck},
}

// An isolated is a server, and what is asked of it.
type isolated struct {
	t      *testing.T
	addr   string
	client *http.Client
	tr     *http.Transport
	close  func()

	last    atomic.Int64   // number of the last request
	tasks   sync.WaitGroup // that have not ended
	ended   chan struct{}  // there may be records
	readers chan taskrecord.RingReader
	done    chan struct{} // a consumer's request has ended
}

// startIsolated starts a server.
func startIsolated(t *testing.T, patience time.Duration) *isolated {
	s := &isolated{t: t, tr: &http.Transport{},
		ended: make(chan struct{}, 1), readers: make(chan taskrecord.RingReader, 1), done: make(chan struct{}, 1)}
	s.client = &http.Client{Transport: s.tr}
	oldTasks, oldPatience := tasks, taskPatience
	tasks.reader = func(oldest bool) taskReader {
		r := taskrecord.NewRingReader(oldest)
		if !oldest { // the page's are
			s.readers <- r
		}
		return r
	}
	if patience != 0 {
		taskPatience = patience
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /square/{n}", s.square)
	h := TaskHandler(mux)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var handlers sync.WaitGroup
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		if r.URL.Path != "/debug/pprof/tasks" {
			h.ServeHTTP(w, r)
			select {
			case s.ended <- struct{}{}:
			default:
			}
			s.tasks.Done()
			return
		}
		if strings.Contains(r.URL.RawQuery, "seconds") {
			defer func() { s.done <- struct{}{} }()
		}
		Tasks(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(smallBuffers{l}) }()
	s.close = sync.OnceFunc(func() {
		s.tr.CloseIdleConnections()
		srv.Close()
		<-served
		handlers.Wait()
		tasks, taskPatience = oldTasks, oldPatience
	})
	t.Cleanup(s.close)
	s.addr = l.Addr().String()
	s.requests(1)
	return s
}

// smallBuffers makes connections wait for a reader soon.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return c, err
}

// square is the handler. Its records are large.
func (s *isolated) square(w http.ResponseWriter, r *http.Request) {
	t := task.FromContext(r.Context())
	t.Note("n", r.PathValue("n"))
	for i := range 5 {
		t.Note(strconv.Itoa(i), isolatedNote)
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, n*n)
}

var isolatedNote = strings.Repeat("x", 250)

const isolatedKind = "GET /square/{n}"

// request sends a request, and checks the answer.
func (s *isolated) request(traceparent string) {
	n := int(s.last.Add(1))
	r, _ := http.NewRequest("GET", fmt.Sprintf("http://%s/square/%d", s.addr, n), nil)
	if traceparent != "" {
		r.Header.Set("Traceparent", traceparent)
	}
	s.tasks.Add(1)
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Error(err)
		s.tasks.Done()
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || string(b) != strconv.Itoa(n*n) {
		s.t.Errorf("request %d: %s, %q, %v", n, resp.Status, b, err)
	}
}

// requests sends n requests, some at the same time, and returns when their tasks have
// ended.
func (s *isolated) requests(n int) {
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for range (n + i) / 4 {
				s.request("")
			}
		})
	}
	clients.Wait()
	s.tasks.Wait()
}

// overflow sends requests until the rings have lost records of them, and returns how many it
// sent. Whoever reads none meanwhile doesn't hold them up: they are all answered.
func (s *isolated) overflow(least time.Duration) (n int) {
	r := taskrecord.NewRingReader(false)
	begin := time.Now()
	for r.Stats().Dropped < 200 || time.Since(begin) < least {
		s.requests(100)
		n += 100
		if s.t.Failed() {
			break
		}
	}
	if rs := r.Stats(); rs.Pushed != uint64(n) || rs.Pushed != rs.Dropped+rs.Waiting {
		s.t.Errorf("after %d requests: %+v", n, rs)
	}
	return n
}

// get returns the status of an answer of the endpoint.
func (s *isolated) get(query string) int {
	resp, err := s.client.Get("http://" + s.addr + "/debug/pprof/tasks" + query)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

// A resources is what a process has open.
type resources struct{ files, goroutines int }

func open(t *testing.T) resources {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return resources{len(files), runtime.NumGoroutine()}
}

// wantOpen checks that no more is open, when connections that one side has closed, and their
// goroutines, have ended by themselves.
func (s *isolated) wantOpen(want resources) {
	s.t.Helper()
	s.tr.CloseIdleConnections()
	more := func(r resources) bool { return r.files > want.files || r.goroutines > want.goroutines }
	now := open(s.t)
	for end := time.Now().Add(20 * time.Second); more(now) && time.Now().Before(end); now = open(s.t) {
		time.Sleep(time.Millisecond)
	}
	if more(now) {
		stacks := make([]byte, 1<<20)
		s.t.Errorf("open: %+v, want %+v:\n%s", now, want, stacks[:runtime.Stack(stacks, true)])
	}
}

// A consumer is a process that reads records, and says which.
type consumer struct {
	s      *isolated
	cmd    *exec.Cmd
	says   *bufio.Scanner
	pipe   *os.File
	reader taskrecord.RingReader // the server's, of this consumer
	begin  int64                 // number of the last request before
	got    map[int64]bool
	lost   int64
}

// consume is a consumer's process. It writes to file descriptor 3 the request's number of each
// record, and how many were lost before that.
func consume(t *testing.T, url string) {
	says := os.NewFile(3, "says")
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		err2 := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
		return errors.Join(err, err2)
	}}
	c := http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	next := taskrecord.NewFileReader(resp.Body).Next
	if strings.Contains(url, "json") {
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		next = func() (*taskrecord.Record, error) {
			if !lines.Scan() {
				return nil, errors.Join(lines.Err(), io.EOF)
			}
			return taskrecord.ParseJSON(lines.Bytes(), json.Unmarshal)
		}
	}
	for {
		k, err := next()
		if err != nil {
			t.Fatal(err)
		}
		n, err := isolatedNumber(k)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(says, n, k.Lost.Before)
	}
}

// isolatedNumber returns the number of the request that a record is of.
func isolatedNumber(k *taskrecord.Record) (int64, error) {
	if k.Kind != isolatedKind || len(k.Notes) != 7 || k.Notes[0].Key != "n" || k.Notes[5].Value != isolatedNote {
		return 0, fmt.Errorf("unexpected record %+v", k)
	}
	return strconv.ParseInt(k.Notes[0].Value, 10, 64)
}

// consumer starts a consumer, and returns when the server serves it.
func (s *isolated) consumer(format string) *consumer {
	t := s.t
	c := &consumer{s: s, got: make(map[int64]bool), begin: s.last.Load()}
	c.cmd = testenv.Command(t, testenv.Executable(t), "-test.run=^TestTaskIsolation$")
	c.cmd.Env = append(c.cmd.Environ(), fmt.Sprintf("%s=http://%s/debug/pprof/tasks?seconds=3600&format=%s", consumerEnv, s.addr, format))
	c.cmd.Stdout, c.cmd.Stderr = os.Stdout, os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.pipe, c.says = r, bufio.NewScanner(r)
	c.cmd.ExtraFiles = []*os.File{w}
	err = c.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	select {
	case c.reader = <-s.readers:
	case <-s.done:
		t.Fatal("the server does not serve the consumer")
	}
	return c
}

// until takes what the consumer says until cond.
func (c *consumer) until(cond func() bool) {
	t := c.s.t
	t.Helper()
	for !cond() {
		if !c.says.Scan() {
			t.Fatalf("the consumer has ended: %v", c.says.Err())
		}
		var n, lost int64
		if _, err := fmt.Sscan(c.says.Text(), &n, &lost); err != nil {
			t.Fatalf("the consumer says %q: %v", c.says.Text(), err)
		}
		if n <= c.begin || c.got[n] {
			t.Errorf("the consumer has got the record of request %d, which is one before %d, or for the second time", n, c.begin)
		}
		c.got[n] = true
		c.lost += lost
	}
}

// stop stops the process, and returns when it is.
func (c *consumer) stop() {
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		c.s.t.Fatal(err)
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	for err == syscall.EINTR {
		pid, err = syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		c.s.t.Fatalf("wait4: %d, %#x, %v", pid, status, err)
	}
}

// proceed has the process go on.
func (c *consumer) proceed() {
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		c.s.t.Fatal(err)
	}
}

// checkStopped checks that the process still is, and that its request goes on.
func (c *consumer) checkStopped() {
	c.s.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil || !bytes.Contains(stat, []byte(") T ")) {
		c.s.t.Errorf("the consumer is not stopped: %q, %v", stat, err)
	}
	select {
	case <-c.s.done:
		c.s.t.Error("the request of a consumer that is stopped has ended")
	default:
	}
}

// kill kills the process.
func (c *consumer) kill() {
	if c.cmd.ProcessState == nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		c.pipe.Close()
	}
}

// end kills the process, waits for its request to end, and checks the ledger.
func (c *consumer) end() taskrecord.RingStats {
	c.kill()
	<-c.s.done
	return c.ledger()
}

// ledger checks the ledger of a consumer whose request has ended.
func (c *consumer) ledger() taskrecord.RingStats {
	c.s.t.Helper()
	rs := c.reader.Stats()
	pushed := c.s.last.Load() - c.begin
	c.s.t.Logf("%d requests, of which the consumer has said to have got %d and lost %d: %+v", pushed, len(c.got), c.lost, rs)
	if rs.Pushed != uint64(pushed) || rs.Pushed != rs.Popped+rs.Dropped+rs.Waiting || rs.Popped < uint64(len(c.got)) || rs.Dropped < uint64(c.lost) {
		c.s.t.Errorf("%d requests, the consumer has got %d and lost %d: %+v", pushed, len(c.got), c.lost, rs)
	}
	return rs
}

// amid starts a consumer and returns amid its stream of records.
func (s *isolated) amid(format string) *consumer {
	c := s.consumer(format)
	s.requests(40)
	c.until(func() bool { return len(c.got) >= 10 })
	return c
}

// again checks that a new consumer gets new records: all.
func (s *isolated) again() {
	c := s.consumer("tasks")
	s.requests(20)
	c.until(func() bool { return len(c.got) == 20 })
	if rs := c.end(); rs.Popped != 20 || rs.Dropped != 0 {
		s.t.Errorf("a new consumer, after 20 requests: %+v", rs)
	}
}

// killed kills a consumer amid the stream.
func (s *isolated) killed(format string) {
	c := s.amid(format)
	c.kill()
	s.overflow(0)
	c.end()
}

// stopped stops a consumer amid the stream, and has it go on when the rings have lost records.
func (s *isolated) stopped() {
	least, err := time.ParseDuration(os.Getenv(stoppedEnv))
	if err != nil && os.Getenv(stoppedEnv) != "" {
		s.t.Fatal(err)
	}
	c := s.amid("tasks")
	c.stop()
	begin := time.Now()
	n := s.overflow(least)
	s.t.Logf("%d requests in %v while the consumer was stopped", n, time.Since(begin))
	if status := s.get(""); status != http.StatusOK {
		s.t.Errorf("the page, while a consumer is stopped: status %d", status)
	}
	if status := s.get("?format=json"); status != http.StatusOK {
		s.t.Errorf("another consumer, while one is stopped: status %d", status)
	}
	c.checkStopped()
	c.proceed()
	s.requests(20)
	c.until(func() bool { return int64(len(c.got))+c.lost >= s.last.Load()-c.begin })
	rs := c.end()
	if rs.Popped != uint64(len(c.got)) || rs.Dropped != uint64(c.lost) || c.lost == 0 || rs.Waiting != 0 {
		s.t.Errorf("the consumer has got %d and knows to have lost %d: %+v", len(c.got), c.lost, rs)
	}
}

// several has two consumers get every record, once, while a third is stopped, until the rings have
// lost records that the third has not got: it knows how many.
func (s *isolated) several() {
	a, b, slow := s.consumer("tasks"), s.consumer("json"), s.consumer("tasks")
	slow.stop()
	rings := taskrecord.NewRingReader(false)
	n := int64(0)
	request := func(consumers ...*consumer) {
		s.requests(20)
		n += 20
		for _, c := range consumers {
			c.until(func() bool { return int64(len(c.got))+c.lost >= n })
		}
	}
	for rings.Stats().Dropped < 200 && !s.t.Failed() {
		request(a, b)
	}
	slow.checkStopped()
	slow.proceed()
	request(a, b, slow)
	for _, c := range []*consumer{a, b} {
		if rs := c.end(); int64(len(c.got)) != n || c.lost != 0 || rs.Popped != uint64(n) {
			s.t.Errorf("a consumer has got %d of %d records and lost %d, while another was stopped: %+v", len(c.got), n, c.lost, rs)
		}
	}
	if rs := slow.end(); rs.Dropped != uint64(slow.lost) || slow.lost == 0 || rs.Popped != uint64(len(slow.got)) {
		s.t.Errorf("the consumer that was stopped has got %d and knows to have lost %d: %+v", len(slow.got), slow.lost, rs)
	}
}

// stoppedKilled kills a consumer that is stopped.
func (s *isolated) stoppedKilled() {
	c := s.amid("json")
	c.stop()
	s.overflow(0)
	c.checkStopped()
	if rs := c.end(); rs.Dropped == 0 {
		s.t.Errorf("a consumer that was stopped has lost nothing: %+v", rs)
	}
}

// stoppedForEver leaves a consumer stopped: its request ends anyway, so that others can be
// served.
func (s *isolated) stoppedForEver() {
	c := s.consumer("tasks")
	c.stop()
	s.overflow(0)
	<-s.done
	c.ledger()
	c.kill()
}

// A sink is a file of a program that writes records itself.
type sink struct {
	*taskrecord.FileWriter
	f       *os.File
	reader  taskrecord.RingReader
	written map[int64]bool
	failed  int
	err     error // the last one
}

func (k *sink) Write(b []byte) (int, error) { return k.f.Write(b) }

func newSink(f *os.File) *sink {
	k := &sink{f: f, reader: taskrecord.NewRingReader(false), written: make(map[int64]bool)}
	k.FileWriter = taskrecord.NewFileWriter(k, k.reader.Server())
	return k
}

// run writes records while n requests are sent, until it has all of them.
func (k *sink) run(s *isolated, n int) {
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for ended := false; ; {
			r := k.reader.Next()
			if r == nil && ended {
				return
			}
			if r == nil {
				select {
				case <-s.ended:
				case <-done:
					ended = true
				}
				continue
			}
			number, err := isolatedNumber(r)
			if err != nil {
				s.t.Error(err)
			}
			if err := k.FileWriter.Write(r); err != nil {
				k.failed++
				k.err = err
			} else {
				k.written[number] = true
			}
		}
	})
	s.requests(n)
	close(done)
	writer.Wait()
}

// check checks that the file has what was written, and what became of the requests' records.
func (k *sink) check(s *isolated, requests int) (skipped int64) {
	rs := k.reader.Stats()
	s.t.Logf("%d requests, %d written, %d not: %v; %+v", requests, len(k.written), k.failed, k.err, rs)
	if rs.Pushed != uint64(requests) || rs.Popped+rs.Dropped != rs.Pushed || rs.Popped != uint64(len(k.written)+k.failed) {
		s.t.Errorf("%d requests, %d written, %d not: %+v", requests, len(k.written), k.failed, rs)
	}
	f, err := os.Open(k.f.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	r := taskrecord.NewFileReader(f)
	read := 0
	for {
		t, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if n, err := isolatedNumber(t); err != nil || !k.written[n] {
			s.t.Errorf("the file has a record of request %d, which was not written: %v", n, err)
		}
		read++
	}
	if read != len(k.written) {
		s.t.Errorf("%d records were written, and %d are read", len(k.written), read)
	}
	return r.Skipped()
}

// diskFull has a program's writer meet a disk that is full, and later isn't.
func (s *isolated) diskFull() {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer full.Close()
	k := newSink(full)
	k.run(s, 500)
	if k.failed == 0 || len(k.written) != 0 || !errors.Is(k.err, syscall.ENOSPC) {
		s.t.Errorf("to a full disk, %d records were written and %d not: %v", len(k.written), k.failed, k.err)
	}
	f := s.create("records")
	defer f.Close()
	k.f = f
	k.run(s, 100)
	if skipped := k.check(s, 600); skipped != 0 || len(k.written) == 0 {
		s.t.Errorf("%d records, %d bytes were skipped", len(k.written), skipped)
	}
}

func (s *isolated) create(name string) *os.File {
	f, err := os.Create(filepath.Join(s.t.TempDir(), name))
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

// limitFiles bounds the size of files that the process writes, and returns how to end
// that.
func (s *isolated) limitFiles(size uint64) (end func()) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			s.t.Error(err)
		}
	}
}

// fileTooLarge has a program's writer fail amid a record, and go on.
func (s *isolated) fileTooLarge() {
	f := s.create("records")
	defer f.Close()
	k := newSink(f)
	k.run(s, 100)
	fi, err := f.Stat()
	if err != nil {
		s.t.Fatal(err)
	}
	end := s.limitFiles(uint64(fi.Size()) + 20) // a record has 42 bytes at least
	k.run(s, 400)
	end()
	if k.failed == 0 || len(k.written) == 0 || !errors.Is(k.err, syscall.EFBIG) {
		s.t.Errorf("%d records were written and %d not: %v", len(k.written), k.failed, k.err)
	}
	k.run(s, 100)
	if skipped := k.check(s, 600); skipped == 0 {
		s.t.Error("a record that was written in part was not skipped")
	}
}

// startRecording begins to record tasks, whatever was recorded before.
func startRecording(t *testing.T, c task.Config) {
	t.Helper()
	c.Rate, c.Server, c.Memory = 1, 1, 1<<20
	if err := task.Start(c); err != nil {
		t.Fatal(err)
	}
}

// flight returns a flight recorder that has been started.
func (s *isolated) flight() *trace.FlightRecorder {
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := fr.Start(); err != nil {
		s.t.Fatal(err)
	}
	return fr
}

// startFlight has every request trigger fr.
func (s *isolated) startFlight(fr *trace.FlightRecorder, dir string) {
	startRecording(s.t, task.Config{Flight: fr, FlightDir: dir, Slow: map[string]time.Duration{isolatedKind: time.Nanosecond}})
}

// stopFlight ends that, when what has been triggered is written, and returns the last error.
func (s *isolated) stopFlight() error {
	task.Stop()
	err := task.ReadStats().Err
	startRecording(s.t, task.Config{Slow: map[string]time.Duration{isolatedKind: time.Hour}})
	return err
}

// traced sends a request whose trace the file name has, and then n others.
func (s *isolated) traced(n int) {
	s.request(isolatedParent)
	s.requests(n)
}

const (
	isolatedParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	isolatedTrace  = "trace-4bf92f3577b34da6a3ce929d0e0e4736.out"
)

// flightRecorder has the execution traces of slow requests meet disks that are full or
// gone.
func (s *isolated) flightRecorder() {
	fr := s.flight()
	defer fr.Stop()
	for _, tt := range []struct {
		name    string
		prepare func(dir string) (end func(), err error)
		want    error
	}{
		{"full", func(dir string) (func(), error) {
			err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k")
			return func() { syscall.Unmount(dir, 0) }, err
		}, syscall.ENOSPC},
		{"gone", func(dir string) (func(), error) { return func() {}, os.Remove(dir) }, syscall.ENOENT},
		{"too large", func(string) (func(), error) { return s.limitFiles(100), nil }, syscall.EFBIG},
		{"again", func(string) (func(), error) { return func() {}, nil }, nil},
	} {
		dir := filepath.Join(s.t.TempDir(), "traces")
		if err := os.Mkdir(dir, 0o777); err != nil {
			s.t.Fatal(err)
		}
		end, err := tt.prepare(dir)
		if errors.Is(err, syscall.EPERM) {
			s.t.Logf("%s: %v: no disk that is soon full", tt.name, err)
			continue
		} else if err != nil {
			s.t.Fatal(err)
		}
		s.startFlight(fr, dir)
		s.traced(50)
		err = s.stopFlight()
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		end()
		s.t.Logf("%s: %v", tt.name, err)
		if !errors.Is(err, tt.want) {
			s.t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if tt.want != nil && len(files) != 0 {
			s.t.Errorf("%s: %q are left", tt.name, files)
		}
		if tt.want == nil && (len(files) != 1 || filepath.Base(files[0]) != isolatedTrace) {
			s.t.Errorf("%s: files %q", tt.name, files)
		}
	}
}

// createFile is how package task creates the file of an execution trace.
//
//go:linkname createFile runtime/task.createFile
var createFile func(name string) (*os.File, error)

// flightStuck has the execution trace of a slow request meet a disk that takes nothing for
// a while.
func (s *isolated) flightStuck() {
	fr := s.flight()
	defer fr.Stop()
	dir := s.t.TempDir()
	name := filepath.Join(dir, isolatedTrace)
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	const size = 4 << 10
	c, err := f.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	var errno syscall.Errno
	if err := c.Control(func(fd uintptr) {
		const setPipeSize = 1031 // F_SETPIPE_SZ
		_, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, size)
	}); err != nil || errno != 0 {
		s.t.Fatal(err, errno)
	}
	defer func(f func(string) (*os.File, error)) { createFile = f }(createFile)
	createFile = func(string) (*os.File, error) { return os.OpenFile(name, os.O_WRONLY, 0) }
	s.startFlight(fr, dir)
	s.traced(200)
	var b []byte
	for len(b) == 0 { // until it is written to
		buf := make([]byte, 8)
		n, err := f.Read(buf)
		if err != nil && err != io.EOF {
			s.t.Fatal(err)
		}
		b = buf[:n]
		time.Sleep(time.Millisecond)
	}
	rest, err := io.ReadAll(f)
	if err := s.stopFlight(); err != nil {
		s.t.Error(err)
	}
	s.t.Logf("200 requests while the trace, of %d bytes, was in a pipe that takes %d", len(b)+len(rest), size)
	if err != nil || !bytes.HasPrefix(b, []byte("go 1.")) || len(rest) < size {
		s.t.Errorf("the trace begins with %q, and %d bytes follow, which fit into the pipe; %v", b, len(rest), err)
	}
}
