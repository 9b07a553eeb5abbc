// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"fmt"
	"strings"
	"testing"
)

// TestEmptyCells tests that a cell that says that nothing is known is empty in a column of numbers,
// wherever it is, and a word in one of words.
func TestEmptyCells(t *testing.T) {
	list := planted()
	for i := range list {
		list[i].Server = "eu"
		if list[i].Mutex > 30 {
			list[i].Server = "NA"
		}
	}
	table := csvOf(list)
	_, want, _ := call(write(t, table))
	contains(t, "report", want, `mutex makes the tail`)
	for _, empty := range []string{"", "NULL", "null", "NA", "N/A", "-", `\N`, "nan", "NaN", "None", `"NULL"`} {
		for where, at := range map[string]int{"at first": 0, "amid": len(list) / 2, "at last": len(list)} {
			lines := strings.SplitAfter(table, "\n")
			row := fmt.Sprintf("10,%s,eu,%[1]s\n", empty)
			lines = append(lines[:at+1:at+1], append(strings.SplitAfter(strings.Repeat(row, 30), "\n"), lines[at+1:]...)...)
			status, got, errs := call(write(t, strings.Join(lines, "")))
			if status != 0 || errs != "" {
				t.Errorf("%q %s: status %d, %s", empty, where, status, errs)
			}
			contains(t, empty+" "+where, got, "mutex makes the tail", "144      5000  0.1", "no step: page-faults")
			json := strings.ReplaceAll(`{"latency":10,"mutex":"x","server":"eu","page-faults":"x"}`+"\n", `"x"`, fmt.Sprintf("%q", strings.Trim(empty, `"`)))
			jsonLines := strings.SplitAfter(linesOf(list), "\n")
			jsonLines = append(jsonLines[:at:at], append([]string{strings.Repeat(json, 30)}, jsonLines[at:]...)...)
			if _, of, errs := call(write(t, strings.Join(jsonLines, ""))); of != got || errs != "" {
				t.Errorf("%q %s, of lines:\n%s%s\nof CSV:\n%s", empty, where, of, errs, got)
			}
		}
	}
	// A region of that name is one.
	_, got, errs := call("-columns", "server", write(t, table))
	contains(t, "report of words", got, `server = "NA" describes slow requests`)
	if errs != "" {
		t.Error(errs)
	}
}

// TestSpace tests that space around cells is not of them.
func TestSpace(t *testing.T) {
	table := csvOf(planted())
	_, want, _ := call(write(t, table))
	for _, sep := range []string{", ", " ,", " \t,  ", ",\u00a0"} {
		spaced := strings.ReplaceAll(table, ",", sep)
		if _, got, errs := call(write(t, spaced)); got != want || errs != "" {
			t.Errorf("with %q between:\n%s%s\nwant\n%s", sep, got, errs, want)
		}
		quoted := strings.Replace(spaced, sep+"a"+sep, `, "a",`+sep[strings.IndexByte(sep, ',')+1:], 1)
		if _, got, errs := call(write(t, quoted)); got != want || errs != "" {
			t.Errorf("with %q between and a quote:\n%s%s\nwant\n%s", sep, got, errs, want)
		}
	}
}

// TestLeftOut tests that what is left out for the kind of its values is said to be.
func TestLeftOut(t *testing.T) {
	var csv, json strings.Builder
	csv.WriteString("latency,wait\n")
	for _, x := range planted() {
		fmt.Fprintf(&csv, "%v,%vms\n", x.Latency, x.Mutex)
		fmt.Fprintf(&json, `{"latency":%v,"mutex":%v,"tags":["a"],"o":{"ids":[1]}}`+"\n", x.Latency, x.Mutex)
	}
	_, got, _ := call(write(t, csv.String()))
	contains(t, "report", got, `column "wait" is of words, 5000 different ones in 5000 requests: it is left out of events`, "Most begin with a digit")
	_, _, errs := call(write(t, json.String()))
	contains(t, "messages", errs, `columns left out, as they are arrays: "o.ids", "tags"`)
	if _, _, errs := call("-columns", "mutex", write(t, json.String())); errs != "" {
		t.Errorf("with -columns: %s", errs)
	}
}
