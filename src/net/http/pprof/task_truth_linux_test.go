// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"internal/taskrecord"
	"internal/testenv"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Requests go through three servers, each a process of its own, and each part of each
// request causes a number of events that its number tells. So much must be in the records,
// exactly, though many requests are worked on at the same time, by goroutines of all kinds.

// A truthHop is a server's part in a request: server number server works on it, asked
// by hop number from, or by the client.
type truthHop struct{ server, from int }

// truthHops are the hops of each request. The first server asks both others at the same
// time.
var truthHops = [...]truthHop{
	0: {0, -1},
	1: {1, 0},
	2: {2, 1},
	3: {2, 0},
}

const truthServers = 3

// A truthWay is a way to cause n events on behalf of the task in ctx. It adds to wg what it
// leaves to others.
type truthWay struct {
	name string
	do   func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup)
}

var truthWays = [...]truthWay{
	{"the handler", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		s.cause(n)
	}},
	{"goroutines that it starts", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		wg.Go(func() {
			wg.Go(func() { s.cause(n - n/2) })
			s.cause(n / 2)
		})
	}},
	{"workers that enter the task", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		s.hand(wg, n, func() {
			e := task.Enter(ctx)
			s.cause(n)
			e.Exit()
		})
	}},
	{"goroutines that workers start", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		s.hand(wg, n, func() {
			e := task.Enter(ctx)
			wg.Go(func() { s.cause(n) })
			e.Exit()
		})
	}},
	{"workers with the context's labels", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		s.hand(wg, n, func() {
			pprof.SetGoroutineLabels(ctx)
			s.cause(n)
			pprof.SetGoroutineLabels(context.Background())
		})
	}},
	{"workers in pprof.Do", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		s.hand(wg, n, func() {
			pprof.Do(ctx, pprof.Labels("way", "Do"), func(context.Context) { s.cause(n) })
			pprof.SetGoroutineLabels(context.Background()) // Do leaves the goroutine with ctx's
		})
	}},
	{"a child task", func(s *truthServer, ctx context.Context, n int, wg *sync.WaitGroup) {
		ctx, t := task.New(ctx, truthChild)
		var own sync.WaitGroup
		s.cause(n / 2)
		s.hand(&own, n, func() {
			e := task.Enter(ctx)
			s.cause(n - n/2)
			e.Exit()
		})
		own.Wait()
		t.End()
	}},
}

const truthChild = "child" // the kind of the last way's task

// truthCounts returns how many events a hop of a request causes in each way.
func truthCounts(request, hop int) (n [len(truthWays)]int) {
	rng := rand.New(rand.NewPCG(uint64(request), uint64(hop)))
	if rng.IntN(8) == 0 {
		return n // there are requests that cause none
	}
	for i := range n {
		n[i] = rng.IntN(8)
	}
	return n
}

// truthCount returns how many events a hop of a request causes.
func truthCount(request, hop int) (sum int64) {
	for _, n := range truthCounts(request, hop) {
		sum += int64(n)
	}
	return sum
}

// truthEvent is an event that happens exactly once in each call of Getppid, which nothing else
// here calls.
const truthEvent = "syscalls:sys_enter_getppid:k"

// truthNeeds skips the test if the event can't be counted here, unless PMU_TEST_REQUIRE says
// that it must be; see package runtime/pprof's tests.
func truthNeeds(t *testing.T) {
	c, err := pprof.OpenCounters(truthEvent)
	if err == nil {
		c.Close()
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PMU_TEST_REQUIRE"), ","), "root") {
		t.Fatalf("root is required here: %v", err)
	}
	t.Skip(err)
}

// A truthConfig is what a server is told.
type truthConfig struct {
	Server int      // its number
	File   string   // for its records
	Addrs  []string // of those servers that have been started before
}

const truthEnv = "PMU_TEST_TRUTH" // has the truthConfig in a server's process

// A truthServer is a server.
type truthServer struct {
	truthConfig
	t      *testing.T
	client *http.Client
	jobs   chan truthJob
	others atomic.Int64 // events that no task has caused
	ended  chan struct{}
}

// A truthJob is work that is handed to a worker.
type truthJob struct {
	do   func()
	more int // events that the worker causes before and after it
	done func()
}

// cause causes n events.
func (s *truthServer) cause(n int) {
	for range n {
		syscall.Getppid()
	}
}

// hand hands a job to the workers.
func (s *truthServer) hand(wg *sync.WaitGroup, n int, do func()) {
	wg.Add(1)
	s.jobs <- truthJob{do, n % 3, wg.Done}
}

// worker does jobs, of all requests. What it does in between is nobody's.
func (s *truthServer) worker() {
	for j := range s.jobs {
		s.cause(j.more)
		j.do()
		s.cause(j.more)
		s.others.Add(2 * int64(j.more))
		j.done()
	}
}

// work is the handler of a hop. The answer is the number of events that it and the hops that
// it asks have caused.
func (s *truthServer) work(w http.ResponseWriter, r *http.Request) {
	request, err := strconv.Atoi(r.PathValue("request"))
	hop, err2 := strconv.Atoi(r.PathValue("hop"))
	if err := errors.Join(err, err2); err != nil || hop < 0 || hop >= len(truthHops) || truthHops[hop].server != s.Server {
		s.t.Errorf("unexpected request %q: %v", r.URL, err)
		return
	}
	ctx := r.Context()
	t := task.FromContext(ctx)
	t.Note("request", r.PathValue("request"))
	t.Note("hop", r.PathValue("hop"))

	var wg sync.WaitGroup
	var sum atomic.Int64
	for i, h := range truthHops {
		if h.from == hop {
			wg.Go(func() {
				n, err := truthGet(s.client, ctx, s.Addrs[h.server], i, request, "")
				if err != nil {
					s.t.Error(err)
				}
				sum.Add(n)
			})
		}
	}
	for i, n := range truthCounts(request, hop) {
		truthWays[i].do(s, ctx, n, &wg)
	}
	wg.Wait()

	want := truthCount(request, hop)
	if u, ok := t.Usage(); !ok || len(u.Counts) != 1 || u.Counts[0].Value != uint64(want) {
		s.t.Errorf("request %d, hop %d: at the end of the handler its task has counted %+v, want %d", request, hop, u.Counts, want)
	}
	fmt.Fprint(w, sum.Load()+want)
}

// truthGet sends a hop's request and returns the number that is answered.
func truthGet(c *http.Client, ctx context.Context, addr string, hop, request int, traceparent string) (n int64, err error) {
	r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://%s/work/%d/%d", addr, hop, request), nil)
	if err != nil {
		return 0, err
	}
	if traceparent != "" {
		r.Header.Set("Traceparent", traceparent)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s: %q", r.URL, resp.Status, b)
	}
	return strconv.ParseInt(string(b), 10, 64)
}

// handler serves requests with work, as tasks, and says when one has ended.
func (s *truthServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /work/{hop}/{request}", s.work)
	h := TaskHandler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		select {
		case s.ended <- struct{}{}:
		default:
		}
	})
}

// serveTruth is a server's process. It writes its address to file descriptor 3, and serves until
// its standard input ends.
func serveTruth(t *testing.T, config string) {
	tr := &http.Transport{MaxIdleConnsPerHost: 100}
	s := &truthServer{t: t, client: &http.Client{Transport: TaskTransport(tr)},
		jobs: make(chan truthJob), ended: make(chan struct{}, 1)}
	if err := json.Unmarshal([]byte(config), &s.truthConfig); err != nil {
		t.Fatal(err)
	}
	// What the process counts in all.
	c, err := pprof.OpenCounters(truthEvent)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// There is room for all records, as none may be lost.
	err = task.Start(task.Config{Rate: 1, Events: []string{truthEvent}, Server: uint16(s.Server) + 1, Name: truthName(s.Server), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	reader := taskrecord.NewRingReader(false)
	f, err := os.Create(s.File)
	if err != nil {
		t.Fatal(err)
	}
	w := taskrecord.NewFileWriter(f, reader.Server())
	var written, ofTasks int64
	write := func() {
		for r := reader.Next(); r != nil; r = reader.Next() {
			if err := w.Write(r); err != nil {
				t.Error(err)
			}
			written++
			if r.Flags&taskrecord.ServerOf != 0 && len(r.Count) == 1 {
				ofTasks += int64(r.Count[0].Value)
			}
		}
	}
	var workers, writer sync.WaitGroup
	for range 3 {
		workers.Go(s.worker)
	}
	writer.Go(func() { // while requests come
		for range s.ended {
			write()
		}
	})

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s.handler()}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	pipe := os.NewFile(3, "address")
	_, err = pipe.WriteString(l.Addr().String())
	if err := errors.Join(err, pipe.Close()); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, os.Stdin)
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	tr.CloseIdleConnections()
	close(s.jobs)
	workers.Wait()
	close(s.ended)
	writer.Wait()
	write()
	if err := f.Close(); err != nil {
		t.Error(err)
	}

	// The ledgers.
	stats := task.ReadStats()
	rs := reader.Stats()
	var ended int64
	for _, k := range readTaskStats().Kinds {
		ended += k.Count
	}
	t.Logf("%s: %d tasks, %+v", truthName(s.Server), ended, rs)
	if rs.Pushed != rs.Popped+rs.Dropped+rs.Waiting || rs.Popped != uint64(written) || rs.Dropped != 0 || rs.Waiting != 0 || written != ended {
		t.Errorf("%d tasks have ended, and %d records were written; reader %+v", ended, written, rs)
	}
	if stats.Open != 0 {
		t.Errorf("%d tasks are open", stats.Open)
	}
	for name, n := range stats.Lost {
		if n != 0 {
			t.Errorf("not recorded: %d %s", n, name)
		}
	}
	v := make([]pprof.CounterValue, 1)
	if err := c.Read(v); err != nil {
		t.Error(err)
	}
	t.Logf("%s: %d events by tasks, %d by others, %d in all", truthName(s.Server), ofTasks, s.others.Load(), v[0].Value)
	if !v[0].Exact() || v[0].Value != uint64(ofTasks+s.others.Load()) {
		t.Errorf("%d events by tasks and %d by others, but the process has counted %+v", ofTasks, s.others.Load(), v[0])
	}
}

func truthName(server int) string { return string(rune('A' + server)) }

// A truthProcess is a server's process, as seen by the test.
type truthProcess struct {
	truthConfig
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
	out   bytes.Buffer
}

func startTruth(t *testing.T, c truthConfig) *truthProcess {
	t.Helper()
	p := &truthProcess{truthConfig: c}
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = testenv.Command(t, testenv.Executable(t), "-test.run=^TestTaskTruth$", "-test.v")
	p.cmd.Env = append(p.cmd.Environ(), truthEnv+"="+string(config))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.cmd.ExtraFiles = []*os.File{w}
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) }) // if the test ends early
	addr, err := io.ReadAll(r)
	if err != nil || len(addr) == 0 {
		t.Fatalf("server %s has no address: %v", truthName(c.Server), err)
	}
	p.addr = string(addr)
	return p
}

// stop ends the server, which then checks its ledgers.
func (p *truthProcess) stop(t *testing.T) {
	if p.cmd.ProcessState != nil {
		return
	}
	p.stdin.Close()
	err := p.cmd.Wait()
	if err != nil || !bytes.Contains(p.out.Bytes(), []byte("--- PASS: TestTaskTruth")) {
		t.Errorf("server %s: %v", truthName(p.Server), err)
	}
	t.Logf("server %s:\n%s", truthName(p.Server), &p.out)
}

// truthSent returns the header traceparent that the client sends with a request. The others
// begin a trace at the first server.
func truthSent(request int) (p taskrecord.Traceparent, ok bool) {
	if request%2 != 0 {
		return p, false
	}
	rng := rand.New(rand.NewPCG(uint64(request), 1<<32))
	for i := range p.Trace {
		p.Trace[i] = byte(rng.Uint32())
	}
	for i := range p.Span {
		p.Span[i] = byte(rng.Uint32() | 1)
	}
	return p, true
}

// TestTaskTruth tests that what the records of requests say of each server is what has
// happened there.
func TestTaskTruth(t *testing.T) {
	if config := os.Getenv(truthEnv); config != "" {
		serveTruth(t, config)
		return
	}
	requests := 1000
	if testing.Short() {
		requests = 100
	}
	truthNeeds(t)
	dir := t.TempDir()
	procs := make([]*truthProcess, truthServers)
	addrs := make([]string, truthServers)
	for i := truthServers - 1; i >= 0; i-- {
		procs[i] = startTruth(t, truthConfig{i, fmt.Sprintf("%s/%d", dir, i), addrs})
		addrs[i] = procs[i].addr
	}

	todo := make(chan int, requests)
	for r := range requests {
		todo <- 1 + r
	}
	close(todo)
	tr := &http.Transport{MaxIdleConnsPerHost: 100}
	client := &http.Client{Transport: tr}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for r := range todo {
				header := ""
				if p, ok := truthSent(r); ok {
					header = p.String()
				}
				n, err := truthGet(client, t.Context(), addrs[0], 0, r, header)
				var want int64
				for hop := range truthHops {
					want += truthCount(r, hop)
				}
				if err != nil || n != want {
					t.Errorf("request %d: answer %d, want %d; %v", r, n, want, err)
				}
			}
		})
	}
	clients.Wait()
	tr.CloseIdleConnections()
	for _, p := range procs { // callers first, as they have connections to those that they call
		p.stop(t)
	}

	truth := &truthCheck{t: t, requests: requests, procs: procs, seen: make(map[int]bool), sum: make(map[[2]int]int64)}
	joined := taskrecord.Join(truthRecords(t, procs))
	for _, r := range joined {
		truth.request(r)
	}
	var events int64
	wrong := 0
	for r := 1; r <= requests; r++ {
		var want [truthServers]int64
		for i, h := range truthHops {
			want[h.server] += truthCount(r, i)
		}
		for s, want := range want {
			got := truth.sum[[2]int{r, s}]
			events += got
			if got != want {
				wrong++
				t.Errorf("request %d: %d events on server %s, want %d", r, got, truthName(s), want)
			}
		}
	}
	if len(joined) != requests || len(truth.seen) != requests {
		t.Errorf("%d traces of %d requests, want %d", len(joined), len(truth.seen), requests)
	}
	t.Logf("%d requests on %d servers: %d of %d numbers are wrong; %d events of %s in %d records",
		requests, truthServers, wrong, requests*truthServers, events, truthEvent, truth.records)
}

// truthRecords yields all servers' records.
func truthRecords(t *testing.T, procs []*truthProcess) iter.Seq[*taskrecord.Record] {
	return func(yield func(*taskrecord.Record) bool) {
		for _, p := range procs {
			f, err := os.Open(p.File)
			if err != nil {
				t.Error(err)
				continue
			}
			defer f.Close()
			r := taskrecord.NewFileReader(f)
			for {
				k, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Errorf("records of server %s: %v", truthName(p.Server), err)
					break
				}
				if !yield(k) {
					return
				}
			}
			if n := r.Skipped(); n != 0 {
				t.Errorf("records of server %s: %d bytes were skipped", truthName(p.Server), n)
			}
		}
	}
}

// A truthCheck checks records.
type truthCheck struct {
	t        *testing.T
	requests int
	procs    []*truthProcess
	records  int
	seen     map[int]bool     // requests
	sum      map[[2]int]int64 // events by request and server
}

// request checks the records of a request.
func (c *truthCheck) request(r *taskrecord.Request) {
	t := c.t
	c.records += len(r.Nodes)
	if len(r.Roots) != 1 || r.Duplicates != 0 || r.Dropped != 0 || r.Inconsistent {
		t.Errorf("trace %v: %d roots, %d records twice, %d dropped, inconsistent %v", r.Trace, len(r.Roots), r.Duplicates, r.Dropped, r.Inconsistent)
	}
	request, _, err := truthNotes(r.Roots[0].Task)
	if err != nil || request < 1 || request > c.requests || c.seen[request] {
		t.Errorf("trace %v: request %d, %v", r.Trace, request, err)
		return
	}
	c.seen[request] = true
	if p, ok := truthSent(request); ok && r.Trace != p.Trace {
		t.Errorf("request %d has trace %v, not the client's %v", request, r.Trace, p.Trace)
	}

	var hops, children [len(truthHops)]*taskrecord.Node
	calls := 0
	for _, n := range r.Nodes {
		switch {
		case n.Task.Flags&taskrecord.Client != 0:
			calls++
			c.count(request, n, "a call", 0)
		case n.Task.Flags&taskrecord.ServerOf != 0:
			req, hop, err := truthNotes(n.Task)
			if err != nil || req != request || hop < 0 || hop >= len(truthHops) || hops[hop] != nil {
				t.Errorf("request %d: a task is of request %d, hop %d: %v", request, req, hop, err)
				return
			}
			hops[hop] = n
		}
	}
	for hop, n := range hops {
		if n == nil {
			t.Errorf("request %d: no record of hop %d", request, hop)
			return
		}
	}
	if calls != len(truthHops)-1 {
		t.Errorf("request %d: %d records of calls, want %d", request, calls, len(truthHops)-1)
	}
	for hop, n := range hops {
		h := truthHops[hop]
		what := fmt.Sprintf("hop %d", hop)
		c.count(request, n, what, truthCount(request, hop))
		if len(n.Task.Count) == 1 {
			c.sum[[2]int{request, h.server}] += int64(n.Task.Count[0].Value)
		}
		if s := n.Task.Server; s.ID != uint16(h.server)+1 || s.Name != truthName(h.server) || s.PID != c.procs[h.server].cmd.Process.Pid {
			t.Errorf("request %d, %s: server %+v, want %s", request, what, s, truthName(h.server))
		}
		for _, child := range n.Children {
			if child.Task.Kind == truthChild {
				if children[hop] != nil || child.Task.Server != n.Task.Server || child.Call < 0 {
					t.Errorf("request %d, %s: child %+v", request, what, child.Task)
				}
				children[hop] = child
			}
		}
		if children[hop] == nil {
			t.Errorf("request %d, %s: no record of the child", request, what)
			continue
		}
		n2 := truthCounts(request, hop)
		c.count(request, children[hop], what+"'s child", int64(n2[len(n2)-1]))

		if h.from < 0 {
			sent, _ := truthSent(request)
			if n.Parent != nil || n.Task.Parent != sent.Span {
				t.Errorf("request %d, %s: parent %v, want the client's %v", request, what, n.Task.Parent, sent.Span)
			}
			continue
		}
		call := n.Parent
		if call == nil || call.Task.Flags&taskrecord.Client == 0 || call.Parent != hops[h.from] || call.Call < 0 ||
			call.Parent.Task.Calls[call.Call].Remote != c.procs[h.server].addr || len(call.Children) != 1 {
			t.Errorf("request %d, %s: its parent is not the call that hop %d has made", request, what, h.from)
		}
	}
	if want := 2*len(truthHops) + calls; len(r.Nodes) != want || len(r.Servers) != truthServers {
		t.Errorf("request %d: %d records of %d servers, want %d of %d", request, len(r.Nodes), len(r.Servers), want, truthServers)
	}
}

// count checks how many events are in a record.
func (c *truthCheck) count(request int, n *taskrecord.Node, what string, want int64) {
	k := n.Task
	if len(k.Count) != 1 || len(k.Events) != 1 || k.Count[0].Value != uint64(want) || k.Count[0].Running != k.Count[0].Enabled || k.Flags&taskrecord.Uncounted != 0 {
		c.t.Errorf("request %d, %s: %v %+v, want %d; flags %#x, %d goroutines", request, what, k.Events, k.Count, want, k.Flags, k.Goroutines)
	}
	if k.Lost != (taskrecord.Lost{}) {
		c.t.Errorf("request %d, %s: lost %+v", request, what, k.Lost)
	}
}

// truthNotes returns what a record says to be of.
func truthNotes(k *taskrecord.Record) (request, hop int, err error) {
	note := func(key string) string {
		i := slices.IndexFunc(k.Notes, func(n taskrecord.Note) bool { return n.Key == key })
		if i < 0 {
			return ""
		}
		return k.Notes[i].Value
	}
	request, err = strconv.Atoi(note("request"))
	hop, err2 := strconv.Atoi(note("hop"))
	return request, hop, cmp.Or(err, err2)
}
