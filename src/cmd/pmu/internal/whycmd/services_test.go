// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"cmd/pmu/internal/otlp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"os"
	"os/exec"
	"runtime/task"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// serviceEnv names the service that a process of the test is, and where the others are.
const serviceEnv = "PMU_TEST_SERVICE"

// A service is a server of a shop: each has the RPCs of all, and is asked for its own. How long
// these take by themselves comes with the request.
type service struct {
	Name   string
	Others map[string]string // their addresses, by name

	client http.Client
	beside sync.WaitGroup // calls that no answer waits for
}

// serve is a process of the test: it prints its address and serves until its input ends.
func serve(env string) error {
	var s service
	if err := json.Unmarshal([]byte(env), &s); err != nil {
		return err
	}
	if err := task.Start(task.Config{Name: s.Name, Rate: 1, Memory: 64 << 20}); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.client.Transport = pprof.TaskTransport(&http.Transport{MaxIdleConnsPerHost: 64})
	mux := http.NewServeMux()
	for j, x := range shopRPCs {
		mux.HandleFunc("GET /"+x.name, func(w http.ResponseWriter, r *http.Request) { s.rpc(w, r, j) })
	}
	mux.HandleFunc("GET /home", s.home)
	own := http.NewServeMux() // what is no task
	own.Handle("/", pprof.TaskHandler(mux))
	own.HandleFunc("/beside", func(w http.ResponseWriter, r *http.Request) { s.beside.Wait() })
	own.HandleFunc("/tasks", pprof.Tasks)
	fmt.Println(l.Addr())
	go http.Serve(l, own)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// take sleeps for as long as part j of a request takes.
func (s *service) take(r *http.Request, j int) error {
	list := strings.Split(r.Header.Get("Takes"), " ")
	if j >= len(list) {
		return fmt.Errorf("no time of part %d: %q", j, list)
	}
	ms, err := strconv.ParseFloat(list[j], 64)
	time.Sleep(time.Duration(ms * float64(time.Millisecond)))
	return err
}

// call calls an RPC for a request.
func (s *service) call(ctx context.Context, r *http.Request, j int) error {
	x := shopRPCs[j]
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.Others[x.server]+"/"+x.name, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Takes", r.Header.Get("Takes"))
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (s *service) rpc(w http.ResponseWriter, r *http.Request, j int) {
	err := s.take(r, j)
	if inner := shopRPCs[j].inner; err == nil && inner > 0 {
		err = s.call(r.Context(), r, inner)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// home is the page. It takes the last time of the list by itself.
func (s *service) home(w http.ResponseWriter, r *http.Request) {
	var err error
	for j := range shopRPCs {
		switch {
		case j == shopRPCs[4].inner: // it is called there
		case j >= shopAsync:
			s.beside.Go(func() { s.call(context.WithoutCancel(r.Context()), r, j) })
		case err == nil:
			err = s.call(r.Context(), r, j)
		}
	}
	if err == nil {
		err = s.take(r, len(shopRPCs))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// startServices starts the five, and returns their addresses by name.
func startServices(t *testing.T) map[string]string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, name := range []string{"catalog", "user", "stock", "cart", "front"} { // callees first
		env, err := json.Marshal(&service{Name: name, Others: all})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestServices$")
		cmd.Env = append(os.Environ(), serviceEnv+"="+string(env))
		cmd.Stderr = os.Stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := cmd.Start(); err1 != nil || err2 != nil || err != nil {
			t.Fatal(err1, err2, err)
		}
		t.Cleanup(func() { in.Close(); cmd.Wait() })
		var address string
		if _, err := fmt.Fscanln(out, &address); err != nil {
			t.Fatal(err)
		}
		all[name] = address
	}
	return all
}

// ask sends the shop's next requests to the front server, some at a time, and waits for all that these
// have begun.
func (s *shop) ask(t *testing.T, all map[string]string, n int) {
	t.Helper()
	const beside = 2
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: beside}}
	defer client.CloseIdleConnections()
	get := func(path string, header http.Header) {
		req := &http.Request{Method: "GET", URL: &url.URL{Scheme: "http", Host: all["front"], Path: path}, Header: header}
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", resp.Status, body, err)
		}
	}
	var wg sync.WaitGroup
	room := make(chan bool, beside)
	for i := range n {
		takes := append(s.next(), 30/float64(s.unit))
		header := http.Header{
			"Takes":       {strings.Trim(fmt.Sprintf("%.3f", takes), "[]")},
			"Traceparent": {fmt.Sprintf("00-%032x-%016x-01", i+1, i+1)},
		}
		room <- true
		wg.Go(func() { get("/home", header); <-room })
	}
	wg.Wait()
	get("/beside", nil)
}

// fetch returns the records of the servers, one file for each, and of all as OTLP. There are to be so many
// requests: took has them by how long they took, which tells them apart.
func fetch(t *testing.T, all map[string]string, n int) (files []string, spans string, took map[time.Duration]int) {
	t.Helper()
	var tasks []*taskrecord.Record
	took = make(map[time.Duration]int)
	for name, address := range all {
		var data []byte
		for requests := -1; requests < n; { // a record is there soon after the answer
			if requests >= 0 {
				time.Sleep(10 * time.Millisecond)
			}
			resp, err := http.Get("http://" + address + "/tasks?format=tasks")
			if err != nil {
				t.Fatal(err)
			}
			data, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			requests = n
			if name == "front" {
				clear(took)
				for _, x := range recordsOf(t, data) {
					if x.Flags&taskrecord.Client == 0 {
						took[x.Wall] = int(binary.BigEndian.Uint64(x.Trace[8:])) - 1
					}
				}
				requests = len(took)
			}
		}
		tasks = append(tasks, recordsOf(t, data)...)
		files = append(files, write(t, string(data)))
	}
	var b bytes.Buffer
	if err := otlp.Write(&b, slices.Values(tasks)); err != nil {
		t.Fatal(err)
	}
	return files, write(t, b.String()), took
}

func recordsOf(t *testing.T, data []byte) (list []*taskrecord.Record) {
	t.Helper()
	r := taskrecord.NewFileReader(bytes.NewReader(data))
	for {
		x, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
}

// TestServices is TestSessions with servers: five processes of net/http, with the delays divided by ten. Their
// records are read as they are, and as OTLP. What a server takes it sleeps, and calls by themselves take
// longer than none. A machine that is busy adds to both. So the test is by hand, or where the
// machine does nothing else.
func TestServices(t *testing.T) {
	if env := os.Getenv(serviceEnv); env != "" {
		if err := serve(env); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	}
	n, _ := strconv.Atoi(os.Getenv("PMU_TEST_SERVICES"))
	if n == 0 {
		t.Skip("PMU_TEST_SERVICES is the number of sessions")
	}
	const requests = 1000
	for _, noise := range []bool{false, true} {
		sums, named := make(map[string]float64), make(map[string]int)
		for seed := range n {
			s := newShop(uint64(seed), noise, 10)
			all := startServices(t)
			s.ask(t, all, requests)
			files, spans, took := fetch(t, all, requests)
			for form, files := range map[string][]string{"records": files, "OTLP": {spans}} {
				table, rep, _ := analyzed(t, files...)
				var order []int
				for _, ms := range table.Latency {
					if i, ok := took[time.Duration(math.Round(ms*1e6))]; ok {
						order = append(order, i)
					}
				}
				if len(order) != requests || len(table.Latency) != requests {
					t.Fatalf("%s: %d requests, %d of them known, want %d", form, len(table.Latency), len(order), requests)
				}
				f := s.judge(table, order, rep.Patterns)
				sums[form] += f
				t.Logf("noise %v, session %d, %s, %v delayed: F %.3f, first %q", noise, seed, form, s.delayed, f, rep.First)
				if len(rep.First) > 0 {
					named[form]++
				}
				if slices.ContainsFunc(rep.First, s.innocent) {
					t.Errorf("noise %v, session %d, %s: %q makes the tail, and %v are delayed", noise, seed, form, rep.First, s.delayed)
				}
			}
		}
		for form, sum := range sums {
			mean := sum / float64(n)
			t.Logf("noise %v, %s: F %.4f in %d sessions, a cause in %d", noise, form, mean, n, named[form])
			if mean < 0.95 {
				t.Errorf("noise %v, %s: F %.4f", noise, form, mean)
			}
		}
	}
}
