// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/task"
	"strconv"
	"sync"
)

const numCarts = 20_000

// A shop has carts, and items in stock.
type shop struct {
	client *http.Client

	mu    sync.Mutex // protects what follows
	carts map[string]cart
	items map[string]int
}

type cart struct {
	Customer string
	Items    []string
}

func newShop() *shop {
	s := &shop{
		client: &http.Client{Transport: pprof.TaskTransport(nil)},
		carts:  make(map[string]cart),
		items:  make(map[string]int),
	}
	for i := range numCarts {
		c := cart{Customer: fmt.Sprintf("customer %d", i)}
		for j := range 1 + i%7 {
			item := fmt.Sprintf("item-%d", (i*31+j)%1000)
			c.Items = append(c.Items, item)
			s.items[item] += 3
		}
		s.carts[strconv.Itoa(i)] = c
	}
	return s
}

func (s *shop) load(id string) (cart, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.carts[id]
	return c, ok
}

func (s *shop) count(item string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[item]
}

// inStock returns how many of an item there are.
func (s *shop) inStock(ctx context.Context, item string) (int, error) {
	if *stock == "" {
		return s.count(item), nil
	}
	r, err := http.NewRequestWithContext(ctx, "GET", *stock+"/stock/"+item, nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", *stock, resp.Status)
	}
	var n int
	_, err = fmt.Fscan(io.LimitReader(resp.Body, 32), &n)
	return n, err
}

// flush writes the carts to a file. What makes the shop slow is here: it holds the lock
// until the file is written. With -copy it holds the lock while it copies the carts.
func (s *shop) flush(file string) error {
	_, t := task.New(context.Background(), "flush")
	defer t.End()

	s.mu.Lock()
	carts := s.carts
	if *clone {
		carts = maps.Clone(carts)
		s.mu.Unlock()
	} else {
		defer s.mu.Unlock()
	}
	g := t.Region("encode")
	data, err := json.Marshal(carts)
	g.End()
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}
