// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import (
	"internal/runtime/perf"
	"slices"
	"strings"
)

// Hardware cache events are a product: cache, operation, result. Their config
// is cache | op<<8 | result<<16 (perf_event_open(2), PERF_TYPE_HW_CACHE).

// A cacheWord is a part of the name of a cache event: perf's spellings of it,
// the one that is shown first, and its number.
type cacheWord struct {
	names []string
	id    uint64
}

const (
	opRead = iota
	opWrite
	opPrefetch
)

const (
	resultAccess = iota
	resultMiss
)

// caches lists the caches with the operations that they have. Others, such as
// stores to an iTLB, have a number and no meaning.
var caches = []struct {
	cacheWord
	ops  []uint64
	desc string
}{
	{cacheWord{[]string{"L1-dcache", "l1-d", "l1d", "L1-data"}, 0}, []uint64{opRead, opWrite, opPrefetch}, "level 1 data cache"},
	{cacheWord{[]string{"L1-icache", "l1-i", "l1i", "L1-instruction"}, 1}, []uint64{opRead, opPrefetch}, "level 1 instruction cache"},
	{cacheWord{[]string{"LLC", "L2"}, 2}, []uint64{opRead, opWrite, opPrefetch}, "last level cache"},
	{cacheWord{[]string{"dTLB", "d-tlb", "Data-TLB"}, 3}, []uint64{opRead, opWrite, opPrefetch}, "data TLB"},
	{cacheWord{[]string{"iTLB", "i-tlb", "Instruction-TLB"}, 4}, []uint64{opRead}, "instruction TLB"},
	{cacheWord{[]string{"branch", "branches", "bpu", "btb", "bpc"}, 5}, []uint64{opRead}, "branch predictor"},
	{cacheWord{[]string{"node"}, 6}, []uint64{opRead, opWrite, opPrefetch}, "local memory node"},
}

// cacheOps names an operation in the singular and in the plural: the accesses
// are "L1-dcache-loads", the misses "L1-dcache-load-misses".
var cacheOps = []cacheWord{
	{[]string{"load", "loads", "read"}, opRead},
	{[]string{"store", "stores", "write"}, opWrite},
	{[]string{"prefetch", "prefetches", "speculative-read", "speculative-load"}, opPrefetch},
}

var cacheResults = []cacheWord{
	{[]string{"refs", "Reference", "ops", "access"}, resultAccess},
	{[]string{"misses", "miss"}, resultMiss},
}

// cacheAliases are what the prototype of proposal 36821 called cache events in
// the description of its flag.
var cacheAliases = []struct{ alias, name string }{
	{"cacheLLReadAccesses", "LLC-loads"},
	{"cacheLLReadMisses", "LLC-load-misses"},
}

// aliasesOfCache returns the other names of the cache event name.
func aliasesOfCache(name string) []string {
	var all []string
	for _, a := range cacheAliases {
		if a.name == name {
			all = append(all, a.alias)
		}
	}
	return all
}

// parseCache parses the name of a cache event, CACHE[-WORD[-WORD]], where the
// words are an operation and a result in either order, as in perf. The
// operation is a load and the result an access unless named. ok is false if
// name is not of that form; err says what is wrong with one that is.
func parseCache(name string) (p Preset, ok bool, err *Error) {
	for _, a := range cacheAliases {
		if a.alias == name {
			name = a.name
		}
	}
	for ci := range caches {
		for _, cache := range caches[ci].names {
			if name != cache && !strings.HasPrefix(name, cache+"-") {
				continue
			}
			op, result, match := parseCacheWords(strings.TrimPrefix(name[len(cache):], "-"))
			if !match || name[len(name)-1] == '-' {
				continue
			}
			if !slices.Contains(caches[ci].ops, op) {
				return Preset{}, true, &Error{
					Kind:   ErrUnknown,
					Reason: "the " + caches[ci].desc + " has no such operation",
					Near:   nearest(name, cacheNames()),
				}
			}
			return cachePreset(ci, op, result), true, nil
		}
	}
	return Preset{}, false, nil
}

// parseCacheWords parses up to one operation and one result, in either order.
func parseCacheWords(s string) (op, result uint64, ok bool) {
	haveOp, haveResult := false, false
	for s != "" {
		var n int
		if id, w := cutCacheWord(s, cacheOps); w > 0 && !haveOp {
			op, n, haveOp = id, w, true
		} else if id, w := cutCacheWord(s, cacheResults); w > 0 && !haveResult {
			result, n, haveResult = id, w, true
		} else {
			return 0, 0, false
		}
		s = strings.TrimPrefix(s[n:], "-")
	}
	return op, result, true
}

// cutCacheWord returns the number and the length of the word that s begins
// with, up to a hyphen or the end of s, or 0 and 0.
func cutCacheWord(s string, words []cacheWord) (id uint64, n int) {
	for _, w := range words {
		for _, name := range w.names {
			if strings.HasPrefix(s, name) && (len(s) == len(name) || s[len(name)] == '-') {
				return w.id, len(name)
			}
		}
	}
	return 0, 0
}

// cachePreset returns the row of the table that a cache event would have.
func cachePreset(ci int, op, result uint64) Preset {
	c := &caches[ci]
	p := Preset{
		Kind: Cache, Type: perf.TypeHWCache, Unit: unitCount,
		Config: c.id | op<<8 | result<<16,
	}
	if result == resultMiss {
		p.Name = c.names[0] + "-" + cacheOps[op].names[0] + "-" + cacheResults[result].names[0]
		p.Desc = c.desc + ": " + cacheOps[op].names[0] + " misses"
	} else {
		p.Name = c.names[0] + "-" + cacheOps[op].names[1]
		p.Desc = c.desc + ": " + cacheOps[op].names[1]
	}
	p.Period = cachePeriod(c.names[0], result)
	return p
}

// cachePeriod is the preset for cache events. What each load or branch causes
// is frequent; what a level 1 cache lets through less so; the other caches see
// only that, and their misses are the rarest.
func cachePeriod(cache string, result uint64) uint64 {
	outer := cache == "LLC" || cache == "node"
	level1 := strings.HasPrefix(cache, "L1-")
	switch {
	case result == resultAccess && !outer:
		return period1M
	case result == resultAccess, level1:
		return period100k
	}
	return period10k
}

// cacheTable returns all cache events.
func cacheTable() []Preset {
	var all []Preset
	for ci := range caches {
		for _, op := range caches[ci].ops {
			for _, result := range []uint64{resultAccess, resultMiss} {
				all = append(all, cachePreset(ci, op, result))
			}
		}
	}
	return all
}

func cacheNames() []string {
	var names []string
	for _, p := range cacheTable() {
		names = append(names, p.Name)
	}
	return names
}
