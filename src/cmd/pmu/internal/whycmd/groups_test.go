// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGroups tests -groups: events of a processor that the tool has no names of. The columns of a file
// may be in any order.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var rows [][]string
	for range 3000 {
		hit, latency := 0.0, 10+r.Float64()
		if r.IntN(30) == 0 {
			hit, latency = 1000, latency+20
		}
		count := func() string { return fmt.Sprintf("%.2f", 50*r.Float64()+hit*(1+r.Float64())) }
		rows = append(rows, []string{fmt.Sprint(latency), count(), count(), fmt.Sprintf("%.2f", 50*r.Float64())})
	}
	names := []string{"latency", "r4d2:u", "r1c0:u", "n"}
	table := func(order []int) string {
		var b strings.Builder
		for _, row := range append([][]string{names}, rows...) {
			for k, i := range order {
				if k > 0 {
					b.WriteByte(',')
				}
				b.WriteString(row[i])
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	groups := write(t, "event,group,parents\nr4d2,CACHE,\nr01C0,INST,\n")
	wantOne, wantRule := "", ""
	for range 10 {
		file := write(t, table(r.Perm(len(names))))
		_, one, errs := call(file)
		_, rule, errs2 := call("-groups", groups, file)
		if wantOne == "" {
			wantOne, wantRule = one, rule
		}
		if one != wantOne || rule != wantRule || errs+errs2 != "" {
			t.Fatalf("in another order:\n%s%s\n%s%s\nbefore\n%s\n%s", one, errs, rule, errs2, wantOne, wantRule)
		}
	}
	contains(t, "report", wantOne, "one of r1c0:u, r4d2:u makes the tail, and no rule says which: p99 is")
	contains(t, "report with -groups", wantRule, "r1c0:u makes the tail: p99 is", "r4d2:u follows r1c0:u")

	for data, want := range map[string]string{"r4d2,MISS\n": `line 1: group "miss" is none of`, "": "no such file"} {
		name := "/does/not/exist"
		if data != "" {
			name = write(t, data)
		}
		if status, _, errs := call("-groups", name, write(t, table([]int{0, 1, 2, 3}))); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: status %d, %s", data, status, errs)
		}
	}
}
