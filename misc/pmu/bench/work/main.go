// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Work does one kind of work, profiled or not, for misc/pmu/bench. At the end it
// prints the CPU time that it used, in nanoseconds.
//
//	work -load name [-scale x] [-n n] [-event e -period p -o file] [-bare ring|signal]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"

	"pmu/bench/bare"
	"pmu/bench/stacks"
	"pmu/demo/demo"
)

// turns is how often the computing loads go round their loop at scale 1: about
// a second.
const turns = 600e6

// loads are the kinds of work. What each does is linear in scale.
var loads = map[string]func(scale float64){
	"deep":    func(scale float64) { deep(*n, uint64(turns*scale)) },
	"mix":     func(scale float64) { mix(int(18 * scale)) },
	"types":   func(scale float64) { checkTypes(max(int(0.4*scale), 1)) },
	"threads": func(scale float64) { threads(*n, uint64(turns*scale)) },
	"switch":  func(scale float64) { switches(1000, int(2e6*scale)) },
	"http":    func(scale float64) { serve(int(20000 * scale)) },
	"faults":  func(scale float64) { faults(int(200*scale), newMapping) },
	"reuse":   func(scale float64) { faults(int(200*scale), oldMapping()) },
	"exit":    func(scale float64) {},
}

var (
	load   = flag.String("load", "", "what to do: "+names())
	n      = flag.Int("n", 10, "frames of deep, threads of threads")
	action = flag.String("bare", "", "sample the deep load without a profiler: ring or signal")
)

func names() string {
	return "deep, exit, faults, http, mix, reuse, switch, threads, types"
}

func main() {
	demo.Main("cycles", func(scale float64) {
		f := loads[*load]
		if f == nil {
			fmt.Fprintf(os.Stderr, "work: no load %q; there are %s\n", *load, names())
			os.Exit(2)
		}
		f(scale)
	})
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
	fmt.Println("cpu", ru.Utime.Nano()+ru.Stime.Nano())
}

// compute goes n times round a loop in which each turn waits for the one before.
//
//go:noinline
func compute(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

var sink uint64

// deep computes below frames frames, on one thread.
func deep(frames int, turns uint64) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		base := 0
		stacks.At(0, func() {
			var pcs [100]uintptr
			base = runtime.Callers(1, pcs[:]) // with one for compute
		})
		stop := startBare()
		stacks.At(frames-base, func() { sink = compute(turns) })
		stop()
	}()
	<-done
}

// startBare starts what the flag -bare asks for, with the flags of the profile,
// and returns what stops it.
func startBare() (stop func()) {
	act, ok := map[string]bare.Action{"ring": bare.Ring, "signal": bare.Signal}[*action]
	if !ok {
		return func() {}
	}
	event, ok := map[string]bare.Event{"task-clock": bare.TaskClock, "cycles": bare.Cycles}[strings.TrimSuffix(flag.Lookup("event").Value.String(), ":u")]
	period := flag.Lookup("period").Value.(flag.Getter).Get().(uint64)
	if !ok || period == 0 {
		fmt.Fprintln(os.Stderr, "work: -bare needs -event task-clock or cycles, and -period")
		os.Exit(2)
	}
	s, err := bare.NewSampler(event, bare.User, period, act)
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
	s.Start()
	return func() {
		s.Stop()
		samples := s.Count() / period
		if act == bare.Signal {
			samples = bare.Signals()
		}
		fmt.Println("samples", samples)
		s.Close()
	}
}

// threads has n threads compute, turns in all.
func threads(n int, turns uint64) {
	var wg, up sync.WaitGroup
	start := make(chan bool)
	for i := 0; i < n; i++ {
		wg.Add(1)
		up.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			up.Done()
			<-start
			compute(turns / uint64(n))
		}()
	}
	up.Wait()
	close(start)
	wg.Wait()
}

// switches has goroutines pass a token around total times.
func switches(goroutines, total int) {
	const tokens = 4
	ring := make([]chan int, goroutines)
	for i := range ring {
		ring[i] = make(chan int, tokens)
	}
	done := make(chan bool)
	for i := range ring {
		in, out := ring[i], ring[(i+1)%len(ring)]
		go func() {
			for left := range in {
				if left == 0 {
					done <- true
					continue
				}
				out <- left - 1
			}
		}()
	}
	for i := 0; i < tokens; i++ {
		ring[i*goroutines/tokens] <- total / tokens
	}
	for i := 0; i < tokens; i++ {
		<-done
	}
}

// serve has a server and four clients, all of net/http, exchange requests.
func serve(requests int) {
	type item struct {
		Name string
		IDs  []int
		Tags map[string]string
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		it := item{Name: r.URL.Path, Tags: map[string]string{"host": r.Host, "agent": r.UserAgent()}}
		for i := 0; i < 50; i++ {
			it.IDs = append(it.IDs, (i*7919)%101)
		}
		sort.Ints(it.IDs)
		json.NewEncoder(w).Encode(it)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
	srv := &http.Server{Handler: mux}
	go srv.Serve(l)
	const clients = 4
	var wg sync.WaitGroup
	for c := 0; c < clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			client := &http.Client{Transport: &http.Transport{}}
			for i := 0; i < requests/clients; i++ {
				resp, err := client.Get("http://" + l.Addr().String() + "/some/path")
				if err != nil {
					fmt.Fprintln(os.Stderr, "work:", err)
					os.Exit(1)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			client.CloseIdleConnections()
		}()
	}
	wg.Wait()
	srv.Close()
}

// faults is the example of doc/pmu-evidence/example.md: requests that compute a
// report and look something up, in a buffer that they get from mapping.
func faults(requests int, mapping func(size int) (b []byte, done func())) {
	data := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog ", 1<<10))
	for i := 0; i < requests; i++ {
		report(data)
		lookup(data, mapping)
	}
}

// report computes.
//
//go:noinline
func report(data []byte) {
	for i := 0; i < 40; i++ {
		for _, c := range data {
			sink = sink*31 + uint64(c)
		}
	}
}

// lookup touches each page of a buffer.
//
//go:noinline
func lookup(data []byte, mapping func(size int) (b []byte, done func())) {
	const size = 4 << 20
	b, done := mapping(size)
	for i := 0; i < size; i += 4096 {
		b[i] = data[i%len(data)]
	}
	done()
}

// newMapping maps memory for one use.
func newMapping(size int) (b []byte, done func()) {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
	syscall.Madvise(b, 15) // MADV_NOHUGEPAGE
	return b, func() { syscall.Munmap(b) }
}

// oldMapping returns a mapping that is used again and again.
func oldMapping() func(size int) (b []byte, done func()) {
	var b []byte
	return func(size int) ([]byte, func()) {
		if b == nil {
			b, _ = newMapping(size)
		}
		return b, func() {}
	}
}
