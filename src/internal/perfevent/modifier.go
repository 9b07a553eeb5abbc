// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"strings"
)

// modifiers are the letters after an event's last colon (perf-list(1), EVENT
// MODIFIERS).
type modifiers struct {
	user, kernel, hv bool // u, k, h: count only in these modes
	guest, host      bool // G, H: count only in these
	excludeIdle      bool // I
	precise          int8 // number of p's, or perf.PreciseBest for P
	preciseGiven     bool
}

// modifierLetters are those that perf knows, supported or not: they distinguish
// "cycles:S" from the tracepoint of system "cycles".
const modifierLetters = "ukhpPGHISDWebRX"

// refusedModifiers are perf's letters that ask for something other than the
// selection of events.
var refusedModifiers = []reason{
	{"S", "reads a group of counters with each sample"},
	{"D", "pins the event to a counter"},
	{"W", "makes the event a weak group"},
	{"e", "makes the event exclusive"},
	{"b", "aggregates in BPF"},
	{"R", "retires the latency of metrics"},
	{"X", "keeps an event from regrouping"},
}

// looksLikeModifiers reports whether s has only letters of perf's modifiers.
func looksLikeModifiers(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(modifierLetters, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func parseModifiers(s string) (m modifiers, err *Error) {
	if s == "" {
		return m, syntaxError("nothing follows the colon; modifiers are u, k, h, p, pp, ppp, P, G, H and I")
	}
	for i := range len(s) {
		c := s[i]
		if c != 'p' && strings.IndexByte(s[:i], c) >= 0 {
			return m, syntaxError("modifier " + quote(s[i:i+1]) + " is given twice")
		}
		switch c {
		case 'u':
			m.user = true
		case 'k':
			m.kernel = true
		case 'h':
			m.hv = true
		case 'G':
			m.guest = true
		case 'H':
			m.host = true
		case 'I':
			m.excludeIdle = true
		case 'p':
			m.precise++
			m.preciseGiven = true
		case 'P':
			m.preciseGiven = true
		default:
			if why := reasonFor(refusedModifiers, s[i:i+1]); why != "" {
				return m, unsupportedError("modifier "+quote(s[i:i+1])+" "+why+", which a profile cannot do; leave it out", nil)
			}
			return m, syntaxError("unknown modifier " + quote(s[i:i+1]) + "; modifiers are u, k, h, p, pp, ppp, P, G, H and I")
		}
	}
	switch {
	case m.precise > 3:
		return m, syntaxError("at most three p's: ppp is the highest precision")
	case m.precise > 0 && strings.IndexByte(s, 'P') >= 0:
		return m, syntaxError("p and P exclude each other: P is the highest precision that opens")
	case m.preciseGiven && m.precise == 0:
		m.precise = perf.PreciseBest
	}
	return m, nil
}

// canonical returns the modifiers as they are shown: those that change nothing
// are left out. (Of a clock, uk does: it makes the kernel a must.)
func (m *modifiers) canonical(kind Kind, kernelOnly bool) string {
	s := ""
	add := func(on bool, letter string) {
		if on {
			s += letter
		}
	}
	if m.user || m.kernel || m.hv {
		add(m.user, "u")
		add(m.kernel, "k")
		add(m.hv, "h")
		if s == "u" && !kernelOnly && kind != Clock || s == "uk" && kernelOnly {
			s = ""
		}
	}
	add(m.precise > 0, strings.Repeat("p", max(int(m.precise), 0)))
	add(m.precise < 0, "P") // not the default where it changes the PMU: see ibsOf
	if m.guest != m.host {  // both is all, like neither
		add(m.guest, "G")
		add(m.host, "H")
	}
	add(m.excludeIdle, "I")
	return s
}

// apply sets e's name and filters from m.
//
// Without u, k or h, perf counts in all modes and, when it may not, silently in
// user mode. A profile says the same on every machine instead: user mode,
// where all of the Go stack is, unless the event occurs in the kernel only.
// Clocks measure CPU time. Time in the kernel is a part of that, and may be most of it,
// so they include the kernel if that is permitted; see Event.KernelOptional.
func (m *modifiers) apply(e *Event) *Error {
	if m.preciseGiven && !e.Kind.precise() {
		return unsupportedError(e.Kind.String()+" events have no levels of precision; leave out p", nil)
	}
	if e.Kind == Raw && (m.kernel || m.hv) {
		return unsupportedError("raw events are sampled in user mode only; for other modes write the event as PMU/config=0x"+e.Type[1:]+"/"+m.canonical(Raw, false), nil)
	}
	if e.KernelOnly && (m.user || m.hv) && !m.kernel {
		return unsupportedError(e.Type+" occurs in the kernel only and would count nothing; leave out the modifiers or use :k", nil)
	}
	user, kernel, hv := m.user, m.kernel, m.hv
	if !user && !kernel && !hv {
		user, kernel = true, e.kernelByDefault()
		e.KernelOptional = e.Kind == Clock
	}
	for i := range e.Attrs {
		a := &e.Attrs[i]
		a.ExcludeUser = !user
		a.ExcludeKernel = !kernel
		a.ExcludeHV = !hv
		a.ExcludeGuest = m.host && !m.guest
		a.ExcludeHost = m.guest && !m.host
		a.ExcludeIdle = m.excludeIdle
		a.Precise = 0
		if e.Kind.precise() {
			a.Precise = perf.PreciseBest
			if m.precise > 0 {
				a.Precise = m.precise
			}
		}
	}
	e.Name = e.Type
	if s := m.canonical(e.Kind, e.KernelOnly); s != "" {
		if !strings.HasSuffix(e.Type, "/") {
			e.Name += ":"
		}
		e.Name += s
	}
	return nil
}
