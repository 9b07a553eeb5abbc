// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

// A walk goes through requests, the slowest first, until it comes to the percentile that the
// others have without those in which an event is high. Of a request in which the event was
// not recorded it is taken to have been high as often as in those that it has met.
type walk struct {
	above              float64 // so many are above the percentile, of those that are not high
	all, recorded, low float64
}

// newWalk returns a walk through n requests. As many as recorded says have the event. In low of
// these it was not high.
func newWalk(p float64, n, recorded, low int) walk {
	if recorded == low {
		return walk{above: float64(above(p, n))}
	}
	if recorded == n {
		return walk{above: float64(above(p, low))}
	}
	return walk{above: (1 - p) * float64(n) * float64(low) / float64(recorded)}
}

// next goes on to weight requests of one latency, and reports whether the percentile is there.
func (w *walk) next(weight float64, recorded, high bool) bool {
	w.all += weight
	if recorded {
		w.recorded += weight
		if !high {
			w.low += weight
		}
	}
	return w.there()
}

// there reports whether the percentile is where the walk has come to.
func (w *walk) there() bool {
	if w.recorded == w.all {
		return w.low > w.above
	}
	return w.recorded > 0 && w.all*(w.low/w.recorded) > w.above
}

// size returns how many requests are looked at.
func (e *event) size(r *ranked) int {
	if e.within == nil {
		return len(r.rows)
	}
	return e.N
}

// impact returns by which part the tail's latency is lower without the requests in which
// the event is high.
func (e *event) impact(r *ranked, p float64) float64 {
	with, without := newWalk(p, e.size(r), e.N, e.N), newWalk(p, e.size(r), e.N, e.N-e.High)
	return e.compare(r, with, without, func() float64 { return 1 })
}

// without returns the distribution of the latencies of requests in which the event is not
// high: of each part the percentile as impact has it.
func (e *event) without(r *ranked, p float64) (c CDF) {
	low := e.N - e.High
	c.Parts = cdfParts(low, p)
	c.Values = make([]float64, len(c.Parts))
	j := len(c.Parts) - 1 // the next one that is looked for
	w := newWalk(c.Parts[j], e.size(r), e.N, low)
	for k, latency := range r.worst {
		if e.within != nil && !e.within.has(k) {
			continue
		}
		for there := w.next(1, e.recorded.has(k), e.high.has(k)); there; there = w.there() {
			if c.Values[j] = latency; j == 0 {
				return c
			}
			j--
			w.above = newWalk(c.Parts[j], e.size(r), e.N, low).above
		}
	}
	clear(c.Values[:j+1]) // as impact has it
	return c
}

// compare returns by which part the percentile of one walk is lower than that of another.
// Each request has a weight.
func (e *event) compare(r *ranked, with, without walk, weight func() float64) float64 {
	all := nan
	for k, latency := range r.worst {
		if e.within != nil && !e.within.has(k) {
			continue
		}
		w := weight()
		if all != all && with.next(w, true, false) {
			all = latency
		}
		if without.next(w, e.recorded.has(k), e.high.has(k)) {
			return part(all, latency)
		}
	}
	return part(all, 0)
}

// part returns by which part of itself one latency is higher than another.
func part(all, low float64) float64 {
	if all > 0 {
		return (all - low) / all
	}
	return 0
}
