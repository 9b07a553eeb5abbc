// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"os/exec"
	"runtime/hazard"
	"runtime/task"
	"strings"
	"sync/atomic"
	"testing"
)

func TestMain(m *testing.M) {
	if file, ok := os.LookupEnv("HEDGE_TEST_FILE"); ok {
		childMain(file)
		return
	}
	os.Exit(m.Run())
}

// childMain is a server that publishes in a file, and does what it reads: a command a line, which it answers with a
// line. While it holds, it answers nothing, and says how many requests it has got.
func childMain(file string) {
	p, err := hazard.Publish(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	var holds atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if holds.Load() {
			fmt.Println("held")
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, os.Getpid())
	}))
	fmt.Println(srv.URL)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch cmd, arg, _ := strings.Cut(in.Text(), " "); cmd {
		case "hold":
			holds.Store(arg == "on")
		case "drain":
			p.Set(hazard.Draining, arg)
		case "ok":
			p.Set(hazard.OK, "")
		}
		fmt.Println("done")
	}
}

// A child is a server in a process of its own.
type child struct {
	testing.TB
	cmd  *exec.Cmd
	in   io.Writer
	out  *bufio.Scanner
	url  *url.URL
	name string // that it answers
}

func startChild(t testing.TB, file string) *child {
	t.Helper()
	c := &child{TB: t, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), "HEDGE_TEST_FILE="+file)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	c.in, c.out, c.name = in, bufio.NewScanner(out), fmt.Sprint(c.cmd.Process.Pid)
	line := c.line()
	if c.url, err = url.Parse(line); err != nil || c.url.Host == "" {
		t.Fatalf("the child says %q", line)
	}
	return c
}

func (c *child) line() string {
	c.Helper()
	if !c.out.Scan() {
		c.Fatal("the child has ended")
	}
	return c.out.Text()
}

// do has the child do something.
func (c *child) do(command, want string) {
	c.Helper()
	fmt.Fprintln(c.in, command)
	c.expect(want)
}

func (c *child) expect(want string) {
	c.Helper()
	if line := c.line(); line != want {
		c.Fatalf("the child says %q, want %q", line, want)
	}
}

// A fetched is the answer to a request through a proxy.
type fetched struct {
	text string
	err  error
}

func fetch(url string) chan fetched {
	c := make(chan fetched, 1)
	go func() {
		resp, err := http.Get(url)
		if err != nil {
			c <- fetched{err: err}
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		c <- fetched{string(text), err}
	}()
	return c
}

// answers checks that an answer is c's.
func (c *child) answers(from chan fetched) {
	c.Helper()
	if got := <-from; got.err != nil || got.text != c.name {
		c.Fatalf("answer %+v, want %s", got, c.name)
	}
}

// withFiles returns a Transport to servers that publish in files.
func withFiles(t testing.TB, files []string, servers ...*child) *Transport {
	c := Config{Base: pprof.TaskTransport(http.DefaultTransport), Scoped: true, Budget: 1}
	for i, s := range servers {
		c.Backends = append(c.Backends, Backend{URL: s.url, Source: File(files[i])})
	}
	tr, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// TestProcesses tests two servers in processes of their own, which drain and are killed while they have
// a request, and what the request's task says of it.
func TestProcesses(t *testing.T) {
	files := []string{shm(t), shm(t)}
	a, b := startChild(t, files[0]), startChild(t, files[1])
	tr := withFiles(t, files, a, b)
	if err := task.Start(task.Config{Rate: 1, Server: 1}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	records := task.NewReader()
	proxy := httptest.NewServer(pprof.TaskHandler(Proxy(tr, nil)))
	defer proxy.Close()
	says := func(i int, state string) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d says %s", i, state), func() bool { return tr.Stats().Backends[i].State == state })
	}
	says(0, "OK")
	says(1, "OK")
	a.answers(fetch(proxy.URL))

	// It drains while it has a request.
	a.do("hold on", "done")
	got := fetch(proxy.URL)
	a.expect("held")
	a.do("drain new version", "done")
	b.answers(got)
	if note := noteOf(t, records); !strings.HasPrefix(note, "sent again after ") || !strings.HasSuffix(note, " ms: a drains (new version)") {
		t.Errorf("note %q", note)
	}
	a.do("hold off", "done")
	a.do("ok", "done")
	says(0, "OK")

	// It is killed while it has a request.
	b.do("hold on", "done")
	got = fetch(proxy.URL)
	b.expect("held")
	b.cmd.Process.Kill()
	a.answers(got)
	if note := noteOf(t, records); !strings.Contains(note, ": b has gone") && !strings.HasSuffix(note, ": b failed") {
		t.Errorf("note %q", note)
	}
	says(1, "Gone")
	a.answers(fetch(proxy.URL))

	// Another process publishes in the same file.
	b.cmd.Wait()
	startChild(t, files[1])
	says(1, "OK")
	s := tr.Stats()
	checkStats(t, s, 1)
	if s.Requests != 4 || s.Resent != 2 || s.Won != 2 || s.Swaps != 2 {
		t.Errorf("%+v", s)
	}
}

// noteOf returns the next note of a request that was sent again.
func noteOf(t testing.TB, records *task.Reader) (note string) {
	t.Helper()
	eventually(t, "there is a note", func() bool {
		for r := records.Next(); r != nil; r = records.Next() {
			for _, n := range r.Notes {
				if n.Key == "hedge" {
					if r.Kind != "GET /" {
						t.Errorf("kind %q", r.Kind)
					}
					note = n.Value
					return true
				}
			}
		}
		return false
	})
	return note
}
