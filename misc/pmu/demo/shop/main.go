// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

//go:debug httpmuxgo121=0

// Shop is a small web shop that is slow now and then, for a reason that its latencies
// don't tell. doc/pmu-tasks.md finds it.
//
//	../../goroot/bin/go run ./demo/shop
//	../../goroot/bin/go run ./demo/shop -load http://localhost:8080
//
// The first command serves carts, and the second one has clients that ask for them. With
// -stock the shop asks another one what is in stock:
//
//	../../goroot/bin/go run ./demo/shop -name stock -id 2 -addr localhost:8081
//	../../goroot/bin/go run ./demo/shop -stock http://localhost:8081
//
// With -hazard and -stacks it is one of two shops behind a proxy; doc/pmu-hazard.md shows that.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"runtime/hazard"
	"runtime/task"
	"time"
)

var (
	addr  = flag.String("addr", "localhost:8080", "`address` to serve at")
	name  = flag.String("name", "shop", "of this server, in records")
	id    = flag.Uint("id", 1, "of this server, in causal clocks")
	stock = flag.String("stock", "", "`URL` of the shop that knows what is in stock; this one, if none")
	every = flag.Duration("flush", time.Second, "how often the carts are saved")
	clone = flag.Bool("copy", false, "save a copy of the carts, so that nobody waits for it")
	load  = flag.String("load", "", "don't serve, but be clients of the shop at this `URL`")
	page  = flag.String("hazard", "", "publish in this `file` that the program is stopped")
	stack = flag.Duration("stacks", 0, "how often all goroutines' stacks are looked at; 0 is never")
	rate  = flag.Float64("rate", 0.01, "part of requests that are recorded, whether slow or not")
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("shop: ")
	flag.Parse()
	if *load != "" {
		clients(*load)
		return
	}

	s := newShop()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /cart/{id}", s.cart)
	mux.HandleFunc("GET /stock/{item}", s.stock)

	if err := task.Start(task.Config{Name: *name, Server: uint16(*id), Rate: *rate}); err != nil {
		log.Fatal(err)
	}
	if *page != "" {
		if _, err := hazard.Publish(*page); err != nil {
			log.Fatal(err)
		}
	}
	if *stack > 0 {
		go agent(*stack)
	}
	http.Handle("/", pprof.TaskHandler(mux)) // beside /debug/pprof/
	go s.flushes()
	log.Printf("carts at http://%s/cart/1, tasks at http://%[1]s/debug/pprof/tasks", *addr)
	log.Fatal(http.ListenAndServe(*addr, nil))
}

// clients asks for carts, 200 a second, until it is stopped or the shop is.
func clients(url string) {
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	busy := make(chan bool, 64)
	for range time.Tick(5 * time.Millisecond) {
		busy <- true
		go func() {
			defer func() { <-busy }()
			resp, err := http.Get(fmt.Sprintf("%s/cart/%d", url, rand.IntN(numCarts)))
			if err != nil {
				log.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}()
	}
}

func (s *shop) cart(w http.ResponseWriter, r *http.Request) {
	t := task.FromContext(r.Context())
	c, ok := s.load(r.PathValue("id"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	t.Note("items", fmt.Sprint(len(c.Items)))

	g := t.Region("price")
	total := 0
	for _, item := range c.Items {
		total += price(item)
	}
	g.End()

	g = t.Region("stock")
	n, err := s.inStock(r.Context(), c.Items[0])
	g.End()
	if err != nil {
		http.Error(w, "nobody knows what is in stock", http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"cart": c, "total": total, "stock": n})
}

func (s *shop) stock(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, s.count(r.PathValue("item")))
}

// flushes saves the carts again and again. Each time is a task: so requests that have to
// wait for it can name it.
func (s *shop) flushes() {
	file := filepath.Join(os.TempDir(), *name+"-carts.json")
	for range time.Tick(*every) {
		if err := s.flush(file); err != nil {
			log.Print(err)
		}
	}
}

// price is a computation that takes a while.
func price(item string) int {
	h := fnv.New64a()
	for range 2000 {
		io.WriteString(h, item)
	}
	return int(h.Sum64() % 10_000)
}
