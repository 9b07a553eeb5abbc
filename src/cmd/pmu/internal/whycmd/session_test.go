// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A shop is what a synthetic user sees: a home page of a front server that calls eight RPCs of four
// others, six of them one after the other, and two that it does not wait for. It is that of
// Cortellessa and Traini: a degradation delays one to three of the six in a tenth of the requests.
type shop struct {
	r       *rand.Rand
	noise   bool
	unit    int // what delays of the paper are divided by
	delayed [2][]int

	affected [2][]bool // by degradation and request
}

// An rpc is one of them. Its server calls another one, if inner is not 0, and waits for it.
type rpc struct {
	name, server string
	median       float64 // ms
	inner        int
}

var shopRPCs = []rpc{
	{"getHome", "catalog", 30, 0},
	{"getCart", "cart", 20, 0},
	{"getProducts", "catalog", 40, 0},
	{"getUser", "user", 15, 0},
	{"getOffers", "cart", 35, 5},
	{"getStock", "stock", 18, 0},
	{"sendStats", "user", 60, 0},
	{"getAds", "stock", 25, 0},
}

const (
	shopAsync  = 6 // here begin those that the page does not wait for
	shopDelay  = 50.0
	shopMore   = 10.0  // noise: in half of the affected requests the delay is so much longer
	shopBeside = 100.0 // noise: in half of them one that is not waited for takes so much longer
)

func newShop(seed uint64, noise bool, unit int) *shop {
	s := &shop{r: rand.New(rand.NewPCG(seed, 41)), noise: noise, unit: unit}
	sizes := s.r.Perm(3)
	for a := range s.delayed {
		s.delayed[a] = s.r.Perm(shopAsync)[:sizes[a]+1]
	}
	return s
}

// next returns how long each RPC of the next request takes by itself in ms.
func (s *shop) next() []float64 {
	d := make([]float64, len(shopRPCs))
	for j, x := range shopRPCs {
		d[j] = x.median * math.Exp(0.15*s.r.NormFloat64())
	}
	for a := range s.delayed {
		yes := s.r.Float64() < 0.1
		if s.affected[a] = append(s.affected[a], yes); !yes {
			continue
		}
		for _, j := range s.delayed[a] {
			d[j] += shopDelay
		}
		if s.noise && s.r.IntN(2) == 0 {
			d[s.delayed[a][0]] += shopMore
		}
		if s.noise && s.r.IntN(2) == 0 {
			d[shopAsync+a] += shopBeside
		}
	}
	for j := range d {
		d[j] /= float64(s.unit)
	}
	return d
}

// spans returns a request as spans. The page sends statistics as a message, and asks for
// advertisements while it goes on. The servers' clocks differ.
func (s *shop) spans(d []float64, skew map[string]int) []made {
	const us = 1000
	list := []made{{id: 1, service: "front", name: "GET /home", kind: "SERVER"}}
	way := func() int { return 100 + s.r.IntN(100) }
	var call func(j, parent, at int, from string) (end int)
	call = func(j, parent, at int, from string) int {
		x := shopRPCs[j]
		out, in := "CLIENT", "SERVER"
		if x.name == "sendStats" {
			out, in = "PRODUCER", "CONSUMER"
		}
		client := len(list)
		list = append(list, made{id: client + 1, parent: parent, service: from, name: x.name, kind: out, from: at, attrs: map[string]string{"server.address": x.server}})
		server := len(list)
		list = append(list, made{id: server + 1, parent: client + 1, service: x.server, name: x.name, kind: in, from: at + way()})
		end := list[server].from + int(d[j]*us)
		if x.inner > 0 {
			end = call(x.inner, server+1, end, x.server) + 50
		}
		list[server].to = end
		end += way()
		if list[client].to = end; out == "PRODUCER" {
			list[client].to = at + 20
		}
		return end
	}
	at := 0
	for j := range shopRPCs {
		at += 50 + s.r.IntN(50)
		switch {
		case j == shopRPCs[4].inner: // it is called there
		case j >= shopAsync:
			call(j, 1, at, "front")
		default:
			at = call(j, 1, at, "front")
		}
	}
	at += int(30 / float64(s.unit) * us * math.Exp(0.1*s.r.NormFloat64()))
	list[0].to = at
	for i := range list {
		list[i].from += skew[list[i].service]
		list[i].to += skew[list[i].service]
		list[i].host = list[i].service + "-1"
	}
	return list
}

// judge returns the F of patterns: of those that describe the requests of a degradation, the best
// counts. Both degradations' requests are those to find. Order has the number of each row's request.
func (s *shop) judge(t *why.Table, order []int, list []why.Pattern) float64 {
	f := func(tp, found, all int) float64 {
		if tp == 0 {
			return 0
		}
		return 2 * float64(tp) / float64(found+all)
	}
	meets := func(p *why.Pattern, row int) bool {
		for _, c := range p.Conds {
			i := slices.IndexFunc(t.Columns, func(col why.Column) bool { return col.Name == c.Column })
			v := t.Columns[i].Values[row]
			if c.IsWord && t.Columns[i].Words[int(v)] != c.Word || !c.IsWord && !(c.Lo <= v && v < c.Hi) {
				return false
			}
		}
		return true
	}
	found, right, degraded := make(map[int]bool), make(map[int]bool), 0
	for a, affected := range s.affected {
		best, chosen := 0.0, -1
		for k := range list {
			tp, n, all := 0, 0, 0
			for row, i := range order {
				hit, yes := meets(&list[k], row), affected[i]
				if hit {
					n++
				}
				if yes {
					all++
				}
				if hit && yes {
					tp++
				}
			}
			if f := f(tp, n, all); f > best {
				best, chosen = f, k
			}
		}
		for row, i := range order {
			if chosen >= 0 && meets(&list[chosen], row) {
				found[row] = true
				right[row] = right[row] || affected[i]
			}
			if affected[i] && !(a == 1 && s.affected[0][i]) {
				degraded++
			}
		}
	}
	correct := 0
	for _, yes := range right {
		if yes {
			correct++
		}
	}
	return f(correct, len(found), degraded)
}

// innocent returns whether a column is of none of the delayed RPCs.
func (s *shop) innocent(column string) bool {
	for _, list := range s.delayed {
		for _, j := range list {
			if strings.HasSuffix(column, shopRPCs[j].name) || strings.Contains(column, shopRPCs[j].name+" ") || strings.Contains(column, shopRPCs[j].name+")") {
				return false
			}
		}
	}
	return true
}

// TestSessions tests reports of generated spans: patterns describe the requests of both degradations,
// and what the first line names is one of the delayed RPCs. It is never one that takes longer in the same
// requests, but is not waited for.
func TestSessions(t *testing.T) {
	const requests = 1000
	seeds := []int{1, 2, 15, 30} // one cause hides the other, in each in another way
	if n, err := strconv.Atoi(os.Getenv("PMU_TEST_SESSIONS")); err == nil {
		seeds = inOrder(n)
	}
	n := len(seeds)
	for _, noise := range []bool{false, true} {
		mean, least, named := 0.0, 1.0, 0
		for _, seed := range seeds {
			s := newShop(uint64(seed), noise, 1)
			skew := make(map[string]int)
			for _, x := range shopRPCs {
				skew[x.server] = s.r.IntN(4e6) - 2e6
			}
			var b strings.Builder
			for i := range requests {
				b.WriteString(otlpOf(i, s.spans(s.next(), skew)))
			}
			table, rep, errs := analyzed(t, write(t, b.String()))
			if want := "pmu why: spans left out, as nobody waited for them: \"front getAds to stock\", \"front sendStats to user\"\n"; errs != want {
				t.Errorf("%s, want %s", errs, want)
			}
			f := s.judge(table, inOrder(requests), rep.Patterns)
			mean += f / float64(n)
			least = min(least, f)
			if len(rep.First) > 0 {
				named++
			}
			if len(rep.First) == 0 || slices.ContainsFunc(rep.First, s.innocent) {
				t.Errorf("noise %v, session %d: %q makes the tail, and %v are delayed", noise, seed, rep.First, s.delayed)
			}
			if f < 0.95 {
				t.Logf("noise %v, session %d, %v delayed: F %.3f of %v", noise, seed, s.delayed, f, rep.Patterns)
			}
		}
		t.Logf("noise %v: F %.4f, at least %.3f, in %d sessions, a cause in %d", noise, mean, least, n, named)
		if mean < 0.95 {
			t.Errorf("noise %v: F %.4f", noise, mean)
		}
	}
}

// TestEqual tests that two degradations that delay requests by the same time are two patterns.
func TestEqual(t *testing.T) {
	for _, noise := range []bool{false, true} {
		s := newShop(1, noise, 1)
		s.delayed = [2][]int{{0}, {3}}
		var b strings.Builder
		for i := range 1000 {
			b.WriteString(otlpOf(i, s.spans(s.next(), nil)))
		}
		table, rep, _ := analyzed(t, write(t, b.String()))
		if f := s.judge(table, inOrder(1000), rep.Patterns); f < 0.99 || len(rep.Patterns) > 3 { // the third is of requests that have both
			t.Errorf("noise %v: F %.3f of %+v", noise, f, rep.Patterns)
		}
		_, out, _ := callWith(b.String(), "-")
		contains(t, "report", out, "span catalog getHome >=", "span user getUser >=", ": of the rest, F ")
	}
}

func inOrder(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// analyzed returns the table and the report of files, and what was said of them.
func analyzed(t *testing.T, files ...string) (*why.Table, *why.Report, string) {
	t.Helper()
	var c command
	c.files = files
	c.in.Max, c.in.most = 1<<40, 8<<30
	var errs strings.Builder
	c.Stderr, c.in.stderr = &errs, &errs
	table, err := c.read(c.files)
	if err == nil && table == nil {
		err = fmt.Errorf("no requests: %s", errs.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	rep, err := why.Analyze(table, why.Params{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table, rep, errs.String()
}
