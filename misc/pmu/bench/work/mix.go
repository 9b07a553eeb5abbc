// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/build"
	"go/importer"
	"go/token"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A record is what mix works with.
type record struct {
	ID    int
	Name  string
	Tags  []string
	Score map[string]float64
	Next  *record
}

// records returns n records, the same ones each time.
func records(n int) (all []record) {
	x := uint64(1)
	next := func(n int) int {
		x = x*6364136223846793005 + 1442695040888963407
		return int(x>>33) % n
	}
	for i := 0; i < n; i++ {
		r := record{ID: next(1e6), Name: fmt.Sprintf("name-%d-%d@host%d.example", i, next(1000), next(50)), Score: map[string]float64{}}
		for tags := next(6); tags >= 0; tags-- {
			r.Tags = append(r.Tags, strings.Repeat(string(rune('a'+next(26))), 1+next(9)))
			r.Score[fmt.Sprint("score", next(20))] = float64(next(1000)) / 7
		}
		if len(all) > 0 && next(3) == 0 {
			r.Next = &record{ID: next(1e6), Name: all[next(len(all))].Name}
		}
		all = append(all, r)
	}
	return all
}

var address = regexp.MustCompile(`([a-z]+)-(\d+)-(\d*)@(host[0-9]|[a-z0-9]+)\.example`)

// mix encodes, compresses, decompresses, decodes, searches and sorts records: many
// stacks, with allocation and garbage collection. It does the same work each time.
func mix(turns int) {
	all := records(2000)
	for ; turns > 0; turns-- {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		must(json.NewEncoder(z).Encode(all))
		must(z.Close())
		u, err := gzip.NewReader(&b)
		must(err)
		data, err := io.ReadAll(u)
		must(err)
		var back []record
		must(json.Unmarshal(data, &back))
		slices.SortFunc(back, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
		slices.SortStableFunc(back, func(a, b record) int { return len(a.Tags) - len(b.Tags) })
		sink += uint64(len(address.FindAllSubmatchIndex(data, -1)) + back[0].ID)
	}
}

// checkTypes type-checks net/http and all that it imports, from source.
func checkTypes(turns int) {
	build.Default.CgoEnabled = false
	for ; turns > 0; turns-- {
		_, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import("net/http")
		must(err)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
}
