// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestLost fails if a field is added to Lost that a view does not have: each, alone, is in files, JSON and
// texts. Packages otlp and diagram have the like.
func TestLost(t *testing.T) {
	fields := reflect.TypeFor[Lost]()
	if n := fields.NumField(); n != len(AllLost) {
		t.Fatalf("Lost has %d fields, and the table %d", n, len(AllLost))
	}
	nothing := text(t, &Record{})
	for i := range AllLost {
		f := &AllLost[i]
		var l Lost
		reflect.ValueOf(&l).Elem().Field(i).SetInt(12345)
		if *f.Of(&l) != 12345 {
			t.Fatalf("entry %d is not field %s", i, fields.Field(i).Name)
		}
		if isTime := fields.Field(i).Type.Name() == "Duration"; isTime != (f.One == "") || isTime != (f.Many == "") || isTime != strings.HasSuffix(f.Column, "_ns") {
			t.Errorf("%s: %+v", fields.Field(i).Name, *f)
		}
		task := &Record{Server: new(Server), Lost: l}
		file, _ := written(t, nil, task)
		if got, _, err := readAll(file); err != io.EOF || len(got) != 1 || got[0].Lost != l {
			t.Errorf("%s is lost in files: error %v", f.Column, err)
		}
		line := AppendJSON(nil, task)
		if got, err := ParseJSON(line, json.Unmarshal); err != nil || got.Lost != l || !bytes.Contains(line, fmt.Appendf(nil, "%q:12345", f.Column)) {
			t.Errorf("%s is lost in JSON: error %v", f.Column, err)
		}
		if text(t, task) == nothing {
			t.Errorf("%s is not in texts", f.Column)
		}
		if n := l.OfTask(); (n == 12345) == (f.One == "" || f.Column == "lost_before") || n != 0 && n != 12345 {
			t.Errorf("%s: %d of the task", f.Column, n)
		}
	}
	l := Lost{Stretches: 1, StretchesTime: 40_000, Notes: 2, Unfound: 1}
	if got, want := l.Words(), []string{"1 short wait (40 us in all)", "2 notes too many or too long", "1 goroutine or child nested too deeply to be followed"}; !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

func text(t *testing.T, task *Record) string {
	t.Helper()
	var b strings.Builder
	if err := task.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
