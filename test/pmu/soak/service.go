// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// works is how many different requests there are.
const works = 64

func (s *soak) rand(kind, i int) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, uint64(kind)<<32|uint64(i)))
}

// A record is what a request is about.
type record struct {
	ID    uint64
	Name  string
	Words []string
	Score float64
	Sub   map[string]int
}

var wordRE = regexp.MustCompile(`([a-f]+)([0-9]+)(?:-([a-z]*))?`)

// work computes the answer to request n: JSON there and back, a regular
// expression, sorting and hashing, some with goroutines of their own.
func work(n uint64) string {
	r := rand.New(rand.NewPCG(n, 1))
	recs := make([]record, 20)
	for i := range recs {
		rec := record{ID: r.Uint64(), Name: fmt.Sprintf("rec-%d", i), Score: r.Float64(), Sub: make(map[string]int)}
		for range 10 {
			w := strconv.FormatUint(r.Uint64(), 16)
			rec.Words = append(rec.Words, w)
			rec.Sub[w[:3]] += len(w)
		}
		recs[i] = rec
	}
	data, err := json.Marshal(recs)
	if err != nil {
		return err.Error()
	}
	var back []record
	if err := json.Unmarshal(data, &back); err != nil {
		return err.Error()
	}
	slices.SortFunc(back, func(a, b record) int { return strings.Compare(a.Words[0], b.Words[0]) })

	// Each part's sum comes from a goroutine; their order is the records'.
	sums := make([]chan [32]byte, len(back))
	for i := range back {
		sums[i] = make(chan [32]byte, 1)
		go func() { sums[i] <- sum(&back[i]) }()
	}
	h := sha256.New()
	for _, c := range sums {
		b := <-c
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sum(rec *record) [32]byte {
	h := sha256.New()
	for _, w := range rec.Words {
		for _, m := range wordRE.FindAllStringSubmatch(w, -1) {
			io.WriteString(h, strings.Join(m, "|"))
		}
	}
	floats := make([]float64, 500)
	x := rec.Score
	for i := range floats {
		x = 3.9 * x * (1 - x)
		floats[i] = x
	}
	slices.Sort(floats)
	for _, f := range floats {
		fmt.Fprintf(h, "%x", f)
	}
	return [32]byte(h.Sum(nil))
}

func handle(s *soak) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.handled.Add(1)
		serve(w, r)
	}
}

// serve answers a request. Some profiles count its calls.
//
//go:noinline
func serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseUint(r.FormValue("n"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	io.WriteString(w, work(n))
}

// client asks for work and checks the answers until ctx is done.
func (s *soak) client(ctx context.Context, r *rand.Rand) {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: 2 * time.Minute}
	for ctx.Err() == nil {
		n := r.IntN(works)
		resp, got, err := get(c, c.Timeout, fmt.Sprintf("%s/work?n=%d", s.addr, n))
		s.requests.Add(1)
		if err != nil {
			s.errorf("request %d: %v", n, err)
		} else if resp.StatusCode != http.StatusOK || string(got) != s.want[n] {
			s.errorf("request %d: %s: got %s, want %s", n, resp.Status, got, s.want[n])
		}
	}
	c.CloseIdleConnections()
}
