// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	tracing "cmd/pmu/internal/spans"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
)

// A made is a span of a made trace. Times are in us from the trace's begin.
type made struct {
	id, parent    int // parent 0 is none
	service, name string
	kind          string // of OTLP
	from, to      int
	attrs         map[string]string
	times         map[string]int // attributes in us, that are numbers of ns
	host          string
	failed        bool
}

// otlpOf returns the trace as a line of OTLP.
func otlpOf(trace int, list []made) string {
	var parts []string
	for _, m := range list {
		parent, attrs, status := "", "", ""
		if m.parent > 0 {
			parent = fmt.Sprintf(`"parentSpanId":"%016x",`, m.parent)
		}
		for k, v := range m.attrs {
			attrs += fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}},`, k, v)
		}
		for k, v := range m.times {
			attrs += fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}},`, k, v*1000)
		}
		if m.failed {
			status = `,"status":{"code":2}`
		}
		at := int64(1e18) + int64(trace)*1e9
		parts = append(parts, fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}},{"key":"host.name","value":{"stringValue":%q}}]},"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x",%s"name":%q,"kind":"SPAN_KIND_%s","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]%s}]}]}`,
			m.service, m.host, trace+1, m.id, parent, m.name, m.kind, at+int64(m.from)*1000, at+int64(m.to)*1000, strings.TrimSuffix(attrs, ","), status))
	}
	return `{"resourceSpans":[` + strings.Join(parts, ",") + "]}\n"
}

// spanReport is the report of n traces.
func spanReport(t *testing.T, n int, trace func(r *rand.Rand) []made) (out, errs string) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 40))
	var b strings.Builder
	for i := range n {
		b.WriteString(otlpOf(i, trace(r)))
	}
	status, out, errs := callWith(b.String(), "-")
	if status != 0 {
		t.Errorf("status %d, %s", status, errs)
	}
	return out, errs
}

// us returns about so many us.
func us(r *rand.Rand, v int) int { return v + r.IntN(v/10+1) }

// TestSpanNames tests that spans of one name are told apart by service and, of a client, by peer.
func TestSpanNames(t *testing.T) {
	got, _ := spanReport(t, 3000, func(r *rand.Rand) []made {
		list := []made{{id: 1, service: "web", name: "GET /", kind: "SERVER"}}
		at := 1000
		for i, peer := range []string{"items", "cart", "account"} {
			d := us(r, 4000)
			if peer == "cart" && r.IntN(30) == 0 {
				d += 50_000
			}
			list = append(list, made{id: 2 + 2*i, parent: 1, service: "web", name: "GET", kind: "CLIENT", from: at, to: at + d + 1000, attrs: map[string]string{"server.address": peer}},
				made{id: 3 + 2*i, parent: 2 + 2*i, service: peer, name: "handle", kind: "SERVER", from: at + 500, to: at + 500 + d})
			at += d + 1200
		}
		list[0].to = at + 500
		return list
	})
	if !strings.HasPrefix(got, "span cart handle makes the tail") {
		t.Errorf("%s", got)
	}
	contains(t, "report", got, "span web GET to cart", "span items handle")
}

// TestSpanAsync tests the second noise of the paper through spans: what nobody waits for is as long in
// slow requests as what makes them slow, and is never named.
func TestSpanAsync(t *testing.T) {
	for _, kind := range []string{"CONSUMER", "PRODUCER", "outlasts", "below PRODUCER"} {
		got, errs := spanReport(t, 3000, func(r *rand.Rand) []made {
			own, mail := us(r, 20_000), us(r, 5000)
			if r.IntN(20) == 0 {
				own += 50_000
				mail += 40_000
			}
			list := []made{{id: 1, service: "web", name: "GET /", kind: "SERVER", to: own + 4000}, {id: 2, parent: 1, service: "db", name: "query", kind: "SERVER", from: 100, to: 4000},
				{id: 3, parent: 1, service: "mail", name: "finditems", kind: kind, from: 5000, to: 5000 + mail}}
			switch kind {
			case "outlasts":
				list[2].kind, list[2].from, list[2].to = "INTERNAL", own-2000, own+mail
				if list[2].to <= list[0].to {
					list[2].to = list[0].to + 1
				}
			case "below PRODUCER":
				list[2].kind, list[2].parent = "INTERNAL", 4
				list = append(list, made{id: 4, parent: 1, service: "web", name: "send", kind: "PRODUCER", from: 4900, to: 5000 + mail})
			}
			return list
		})
		if !strings.HasPrefix(got, "span self makes the tail") || strings.Contains(got, "finditems") || strings.Contains(got, "send") {
			t.Errorf("%s:\n%s", kind, got)
		}
		contains(t, kind, errs, "spans left out, as nobody waited for them: ")
	}
}

// TestSpanBeside tests that time of which it isn't known whether a span waited or worked is said to be
// that, and not taken from it.
func TestSpanBeside(t *testing.T) {
	got, errs := spanReport(t, 3000, func(r *rand.Rand) []made {
		more := 0
		if r.IntN(20) == 0 {
			more = 50_000
		}
		// A goroutine computes for as long as the request: it began before the query did.
		return []made{{id: 1, service: "web", name: "GET /", kind: "SERVER", to: us(r, 20_000) + 12_000 + more},
			{id: 2, parent: 1, service: "web", name: "prefetch", kind: "INTERNAL", from: 1000, to: us(r, 8000) + 3000 + more},
			{id: 3, parent: 1, service: "db", name: "query", kind: "SERVER", from: 2000, to: 6000}}
	})
	if !strings.HasPrefix(got, "one of span not known, span web prefetch makes the tail") {
		t.Errorf("%s", got)
	}
	contains(t, "messages", errs, `in 3000 requests a span did something else while one below it ran: that time is the column "span not known"`)
}

// TestSpanRepeated tests that many calls in place of one are named as many, and that no threshold lies
// between equal values.
func TestSpanRepeated(t *testing.T) {
	got, _ := spanReport(t, 3000, func(r *rand.Rand) []made {
		n := 1
		if r.IntN(25) == 0 {
			n = 40
		}
		list := []made{{id: 1, service: "web", name: "GET /", kind: "SERVER"}}
		at := 1000
		for i := range n {
			list = append(list, made{id: 2 + i, parent: 1, service: "cart", name: "GET /cart", kind: "SERVER", from: at, to: at + 1001})
			at += 1100
		}
		list[0].to = at + us(r, 5000)
		return list
	})
	if !strings.HasPrefix(got, "number of span cart GET /cart makes the tail") {
		t.Errorf("%s", got)
	}
	contains(t, "report", got, "span cart GET /cart follows number of span cart GET /cart")
	if strings.Contains(got, "mean of span cart GET /cart in") || strings.Contains(got, "mean of span cart GET /cart >=") {
		t.Errorf("a condition divides equal values:\n%s", got)
	}
}

// TestSpanAttributes tests attributes of spans below the request's, of what recorded them, and whether
// they failed.
func TestSpanAttributes(t *testing.T) {
	for _, tt := range []struct {
		what string
		slow func(m *made)
		want string
	}{
		{"node", func(m *made) { m.host = "node-b" }, `items: host.name = "node-b"`},
		{"attribute", func(m *made) { m.attrs = map[string]string{"cache": "miss"} }, `items handle: cache = "miss"`},
		{"status", func(m *made) { m.failed = true }, `items handle failed = "yes"`},
	} {
		got, _ := spanReport(t, 3000, func(r *rand.Rand) []made {
			list := []made{{id: 1, service: "web", name: "GET /", kind: "SERVER", host: "w", to: us(r, 20_000)},
				{id: 2, parent: 1, service: "items", name: "handle", kind: "SERVER", host: "node-" + string("acd"[r.IntN(3)]), from: 1000, to: 9000, attrs: map[string]string{"cache": "hit"}}}
			if r.IntN(25) == 0 {
				tt.slow(&list[1])
				list[0].to += 50_000
			}
			return list
		})
		contains(t, tt.what, got, tt.want)
	}
}

// TestSpanSize tests that all that takes memory of spans is counted, and what they share once.
func TestSpanSize(t *testing.T) {
	word := strings.Repeat("x", 1000)
	attr := tracing.Attribute{Key: word, Text: word, IsText: true}
	resource := make([]tracing.Attribute, 1000)
	for i := range resource {
		resource[i] = attr
	}
	var s spans
	last := 0
	for _, tt := range []struct {
		what string
		span tracing.Span
		want int
	}{
		{"nothing", tracing.Span{}, spanSize},
		{"a name", tracing.Span{Name: word, Service: word, Peer: word}, spanSize + 3000},
		{"an attribute", tracing.Span{Attributes: []tracing.Attribute{attr}}, spanSize + attrSize + 2000},
		{"a resource", tracing.Span{Resource: resource}, spanSize + 1000*(attrSize+2000)},
		{"the same resource", tracing.Span{Resource: resource}, spanSize},
	} {
		s.add(&tt.span)
		if got := s.size - last; got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.what, got, tt.want)
		}
		last = s.size
	}
}

// TestSpanTable tests that the table that is made of spans has a bound, within a trace and over many.
func TestSpanTable(t *testing.T) {
	const n, bound = 300, 300 * 100 * 8
	for _, roots := range []int{1, n} { // in a trace
		var b strings.Builder
		for i := range n / roots {
			var list []made
			for k := range roots {
				m := made{id: k + 1, service: "web", name: "GET /", kind: "SERVER", to: 1000, attrs: make(map[string]string)}
				m.attrs[fmt.Sprint("a", i*roots+k)] = "1" // each has a column of its own
				list = append(list, m)
			}
			b.WriteString(otlpOf(i, list))
		}
		status, out, errs := call("-table", fmt.Sprint(bound), write(t, b.String()))
		if status != 2 || !strings.Contains(errs, fmt.Sprintf("pmu why: spans: the table takes more than %d bytes, so the rest is left out", bound)) {
			t.Errorf("%d roots: status %d, %s", roots, status, errs)
		}
		if !strings.Contains(out, "requests: p50") || strings.Contains(out, fmt.Sprint(n, " requests: p50")) {
			t.Errorf("%d roots:\n%s", roots, out)
		}
		if status, _, errs := call("-table", fmt.Sprint(n*n*20), write(t, b.String())); status != 0 || errs != "" {
			t.Errorf("%d roots, with more room: status %d, %s", roots, status, errs)
		}
	}
}

// TestSpanTask tests spans of tasks: what a task waited for is a part of its span's time, and what its
// goroutines did beside that is no cause. Nor is that it waited for a call.
func TestSpanTask(t *testing.T) {
	got, _ := spanReport(t, 3000, func(r *rand.Rand) []made {
		own, mutex, call := us(r, 5000), 0, us(r, 20_000)
		if r.IntN(30) == 0 {
			mutex = us(r, 40_000)
		}
		web := made{id: 1, service: "web", name: "GET /", kind: "SERVER", to: own + call + mutex, times: map[string]int{
			"go.latency.running": own, "go.time.running": own + mutex, "go.time.select": call + mutex, "go.switches": mutex}}
		client := made{id: 2, parent: 1, service: "web", name: "GET db", kind: "CLIENT", from: own, to: web.to}
		db := made{id: 3, parent: 2, service: "db", name: "GET /item", kind: "SERVER", from: own, to: web.to, times: map[string]int{
			"go.latency.running": call, "go.latency.mutex": mutex, "go.time.running": call, "go.time.mutex": mutex}}
		return []made{web, client, db}
	})
	contains(t, "report", got, "mutex on db GET /item makes the tail: p99 is ", "mutex on db GET /item >= 40 ms: F 1.00")
	for _, no := range []string{"go.", "select"} {
		if strings.Contains(got, no) {
			t.Errorf("report has %q:\n%s", no, got)
		}
	}
}

// TestSpanNoParts tests that attributes that only look like parts of the time are none, and replace no column.
func TestSpanNoParts(t *testing.T) {
	got, errs := spanReport(t, 3000, func(r *rand.Rand) []made {
		slow := r.IntN(30) == 0
		web := made{id: 1, service: "web", name: "GET /", kind: "SERVER", to: us(r, 5000), times: map[string]int{"go.latency.kind": 5, "go.latency.mutex": 0}}
		region := made{id: 2, parent: 1, service: "web", name: "load", to: web.to - 1}
		call := made{id: 3, parent: 1, service: "web", name: "load", kind: "CLIENT", from: web.to - 1, to: web.to}
		web.times["go.latency.running"] = web.to // and in the region
		if slow {
			call.to += us(r, 40_000)
			web.to, web.times["go.latency.mutex"] = call.to+1, 1<<50
		}
		return []made{web, region, call}
	})
	contains(t, "report", got, "span web load makes the tail: p99 is ")
	if strings.Contains(got, "mutex makes") || !strings.Contains(errs, "spans the attributes go.latency.* are more than the span took") || !strings.Contains(got, "\n3000 requests: ") {
		t.Errorf("%s\n%s", errs, got)
	}
}

// TestSpanTwice tests that spans that are there twice are counted.
func TestSpanTwice(t *testing.T) {
	line := otlpOf(0, []made{{id: 1, service: "web", name: "GET /", kind: "SERVER", to: 1000}, {id: 2, parent: 1, service: "web", name: "query", from: 1, to: 2}})
	status, out, errs := call(write(t, line), write(t, line+line))
	if status != 0 || !strings.Contains(out, "\n1 request: ") || errs != "pmu why: 4 spans skipped that are there already\n" {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
}

// TestSpanShapes tests traces that would take a deep stack, or minutes: a long chain, and many spans
// side by side. Twenty times as many are looked at a little more than twenty times as often; it would be
// 400 times if each was looked at for each.
func TestSpanShapes(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	const n, times = 400_000, 20
	for _, tt := range []struct {
		name  string
		spans func(n int) []tracing.Span
		n     int

		own     int64           // of the first
		unknown func(int) int64 // ditto
	}{
		{"chain", chainOfSpans, n / 4, 2, func(int) int64 { return 0 }},
		{"beside", spansBeside, n, 2, func(n int) int64 { return int64(n - 1) }},
	} {
		looks := func(n int) int {
			x := newTrace(tt.spans(n))
			own, unknown := x.own(0)
			if own != tt.own || unknown != tt.unknown(n) {
				t.Errorf("%s: %d, and not known %d, want %d and %d", tt.name, own, unknown, tt.own, tt.unknown(n))
			}
			return x.looks
		}
		few, many := looks(tt.n/times), looks(tt.n)
		if few < tt.n/times || many > 2*times*few {
			t.Errorf("%s: %d spans are looked at %d times, and %d spans %d times", tt.name, tt.n/times, few, tt.n, many)
		}
	}
}

func spanID(i int) (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(i))
	return id
}

// chainOfSpans returns n spans, each of which is within the one before.
func chainOfSpans(n int) []tracing.Span {
	list := make([]tracing.Span, n)
	for i := range list {
		list[i] = tracing.Span{ID: spanID(i + 1), Parent: spanID(i), Start: int64(i), End: int64(3*n - i)}
	}
	return list
}

// spansBeside returns a span, and n-1 that are within it side by side.
func spansBeside(n int) []tracing.Span {
	list := make([]tracing.Span, n)
	for i := range list {
		list[i] = tracing.Span{ID: spanID(i + 1), Parent: spanID(min(i, 1)), Start: min(int64(i), 1), End: int64(2*n - i)}
	}
	list[n-1].Start = 2 // all others begin together
	return list
}

// TestSpanClocks tests that the clock of a service may be off.
func TestSpanClocks(t *testing.T) {
	got, _ := spanReport(t, 3000, func(r *rand.Rand) []made {
		d := us(r, 10_000)
		if r.IntN(30) == 0 {
			d += 45_000
		}
		const off = 5_000
		return []made{{id: 1, service: "web", name: "GET /", kind: "SERVER", to: d + 3000}, {id: 2, parent: 1, service: "web", name: "GET", kind: "CLIENT", from: 1000, to: d + 2000},
			{id: 3, parent: 2, service: "items", name: "handle", kind: "SERVER", from: 1500 + off, to: 1500 + d + off},
			{id: 4, parent: 3, service: "items", name: "query", kind: "INTERNAL", from: 2000 + off, to: 1000 + d + off}}
	})
	if !strings.HasPrefix(got, "span items query makes the tail") {
		t.Errorf("%s", got)
	}
	if strings.Contains(strings.Split(got, "Ruled out")[0], "span web GET") {
		t.Errorf("the client only waited:\n%s", got)
	}
}
