// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"slices"
)

// A session is what a synthetic user of a shop has recorded in five minutes: requests for the
// home page, a part of which is degraded in one of two ways. It is made after the protocol of
// the pattern search's evaluation: the page calls eight RPCs, six of them synchronously; a
// degradation delays some synchronous ones by 50 ms each in a tenth of the requests.
type session struct {
	Table
	affected [2][]bool // by degradation and request
	degraded []int32   // requests that either has affected
}

const sessionRPCs, sessionSync = 8, 6

// newSession makes a session. Noise is, in half of the requests that a degradation affects,
// 60 ms instead of 50 in one of the RPCs; and, in another half, 100 ms in an RPC for which the
// page does not wait.
func newSession(seed uint64, noise bool) *session {
	r := rand.New(rand.NewPCG(seed, 9))
	s := &session{Table: Table{Unit: "ms"}}
	medians := [sessionRPCs]float64{30, 20, 40, 15, 35, 18, 60, 25}
	names := [sessionRPCs]string{"getHome", "getCart", "getProducts", "getUser", "getOffers", "getStock", "sendStats", "getAds"}
	for _, name := range names {
		s.Columns = append(s.Columns, Column{Name: name, Unit: "ms", Group: None})
	}
	sizes := r.Perm(3)
	var delayed [2][]int
	for a := range delayed {
		delayed[a] = r.Perm(sessionSync)[:sizes[a]+1]
	}
	for at := 0.0; at < 300_000; {
		var e [sessionRPCs]float64
		for j := range e {
			e[j] = medians[j] * lognormal(r, 0.15)
		}
		hit := false
		for a := range delayed {
			yes := r.Float64() < 0.1
			s.affected[a] = append(s.affected[a], yes)
			if !yes {
				continue
			}
			hit = true
			for _, j := range delayed[a] {
				e[j] += 50
			}
			if noise && r.IntN(2) == 0 {
				e[delayed[a][0]] += 10
			}
			if noise && r.IntN(2) == 0 {
				e[sessionSync+a] += 100
			}
		}
		latency := 30 * lognormal(r, 0.1) // the page's own
		for j, d := range e {
			s.Columns[j].Values = append(s.Columns[j].Values, d)
			if j < sessionSync {
				latency += d
			}
		}
		if hit {
			s.degraded = append(s.degraded, int32(len(s.Latency)))
		}
		s.Latency = append(s.Latency, latency)
		at += latency + 50
	}
	return s
}

// A quality is how well clusters of requests are those that degradations have affected.
type quality struct{ precision, recall, f float64 }

// judge returns the quality of clusters: for each degradation, that with the best F counts.
func (s *session) judge(clusters [][]int32) quality {
	var chosen [2]map[int32]bool
	for a := range chosen {
		best := -1.0
		all := 0
		for _, yes := range s.affected[a] {
			if yes {
				all++
			}
		}
		for _, c := range clusters {
			tp := 0
			for _, i := range c {
				if s.affected[a][i] {
					tp++
				}
			}
			if _, _, f := score(float64(tp), float64(len(c)-tp), float64(all)); f > best {
				best, chosen[a] = f, make(map[int32]bool)
				for _, i := range c {
					chosen[a][i] = true
				}
			}
		}
	}
	union, correct := make(map[int32]bool), make(map[int32]bool)
	for a, c := range chosen {
		for i := range c {
			union[i] = true
			if s.affected[a][i] {
				correct[i] = true
			}
		}
	}
	var q quality
	tp := float64(len(correct))
	q.precision, q.recall, q.f = score(tp, float64(len(union))-tp, float64(len(s.degraded)))
	return q
}

// space returns the session's space, and the latencies of what was degraded.
func (s *session) space() (sp *space, from float64, degraded []float64) {
	rows := make([]int32, len(s.Latency))
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortFunc(rows, func(a, b int32) int {
		if s.Latency[a] < s.Latency[b] {
			return -1
		}
		return 1
	})
	for _, i := range s.degraded {
		degraded = append(degraded, s.Latency[i])
	}
	slices.Sort(degraded)
	from = degraded[0]
	ascending := make([]float64, len(rows))
	for k, i := range rows {
		ascending[k] = s.Latency[i]
	}
	return newSpace(crew{}, &s.Table, rows, lowerBound(ascending, from), 10), from, degraded
}

// clusters returns the requests that meet each pattern.
func (s *session) clusters(list []Pattern) (clusters [][]int32) {
	for _, p := range list {
		var c []int32
	next:
		for i := range s.Latency {
			for _, cond := range p.Conds {
				v := s.column(cond.Column)[i]
				if !(cond.Lo <= v && v < cond.Hi) {
					continue next
				}
			}
			c = append(c, int32(i))
		}
		clusters = append(clusters, c)
	}
	return clusters
}

func (s *session) column(name string) []float64 {
	for _, c := range s.Columns {
		if c.Name == name {
			return c.Values
		}
	}
	return nil
}
