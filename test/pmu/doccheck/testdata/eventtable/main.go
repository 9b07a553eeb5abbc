// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Eventtable prints the tables of doc/pmu.md: the events that have the same
// name on every machine, as runtime/pprof itself lists them.
package main

import (
	"fmt"
	"runtime/pprof"
	"strings"
)

func main() {
	list := pprof.Events()
	fmt.Println("| Event | Other names | Kind | Preset period | What it counts |")
	fmt.Println("|---|---|---|---|---|")
	for _, e := range list {
		switch e.Kind {
		case "hardware", "clock", "software":
			fmt.Printf("| `%s` | %s | %s | %s | %s |\n", e.Name, quote(e.Aliases), e.Kind, period(e), e.Desc)
		}
	}
	fmt.Println()
	fmt.Println("| Cache event | Other names | Preset period | What it counts |")
	fmt.Println("|---|---|---|---|")
	for _, e := range list {
		if e.Kind == "hardware cache" {
			fmt.Printf("| `%s` | %s | %s | %s |\n", e.Name, quote(e.Aliases), period(e), e.Desc)
		}
	}
}

func period(e pprof.EventInfo) string {
	s := fmt.Sprint(e.Period)
	if e.Unit != "count" {
		s += " " + e.Unit
	}
	return s
}

func quote(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+n+"`")
	}
	return strings.Join(all, ", ")
}
