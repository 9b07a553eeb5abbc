// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxSkipped is of how many cells that -columns leaves out the names of columns are kept, for an
// error to name the nearest. Workers ask about each cell.
const maxSkipped = 10_000

// names are those of columns: of all that are kept, and of those that are left out as far as they are
// known.
type names struct {
	n   atomic.Int64
	mu  sync.Mutex
	all map[string]bool
}

// skip adds the name of one that is left out.
func (s *names) skip(name string) {
	if s.n.Load() >= maxSkipped {
		return
	}
	s.n.Add(1)
	s.have(strings.Clone(name)) // it may be of a long line
}

// have adds the name of one that there is.
func (s *names) have(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]bool)
	}
	s.all[name] = true
}

// missing returns an error if there is no column of one of the names that -columns has, but for that
// of the latency.
func (s *names) missing(wanted []string, latency string) error {
	for _, name := range wanted {
		if !s.all[name] && name != latency {
			return noColumn(name, slices.Sorted(maps.Keys(s.all)))
		}
	}
	return nil
}

// noColumn says that there is no column of a name, and which there are.
func noColumn(name string, names []string) error {
	const most = 3
	if len(names) == 0 {
		return fmt.Errorf("there is no column %.100q, and no other one", name)
	}
	near := slices.Clone(names)
	away := make(map[string]int)
	for _, n := range names {
		away[n] = distance(name, n)
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(away[a], away[b]) })
	return fmt.Errorf("there is no column %.100q: of %d, those of the nearest names are %s", name, len(names), list(near[:min(most, len(near))]))
}

// distance returns how many letters have to be added, removed or replaced to make one name the other,
// whatever the case; less if one is in the other.
func distance(a, b string) int {
	const most = 64 // bytes of a name that are looked at
	x, y := strings.ToLower(a), strings.ToLower(b)
	x, y = x[:min(len(x), most)], y[:min(len(y), most)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(x) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(y) {
			replaced := diagonal
			if x[i] != y[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	if x != "" && (strings.Contains(y, x) || strings.Contains(x, y)) {
		return min(1, row[len(y)])
	}
	return row[len(y)]
}
