// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"internal/taskrecord"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// fill sets each field in v that is not made of others, and makes slices of one element.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(5)
	default:
		v.SetUint(5)
	}
}

// filled returns a value without a zero in it.
func filled[T any]() (x T) {
	fill(reflect.ValueOf(&x).Elem())
	return x
}

// leaves calls f with each field in v that is not made of others, and with whether it is zero. A slice or
// pointer that has nothing has a zero.
func leaves(v reflect.Value, path string, f func(path string, zero bool)) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[taskrecord.Clock]() {
			f(path, v.IsZero())
			return
		}
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), path, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), path, f)
		}
		if v.Len() == 0 {
			leaves(reflect.Zero(v.Type().Elem()), path, f)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		leaves(v.Elem(), path, f)
	default:
		f(path, v.IsZero())
	}
}

// notInRing are the fields of a record that TestRingFields does not find, and why.
var notInRing = map[string]string{
	"Record.Server.Events":             "they are Config's, which a machine may be unable to count",
	"Record.Server.Boot":               "not every system has one",
	"Record.Usual.Usage.Count.Enabled": "averages are of counts alone",
	"Record.Usual.Usage.Count.Running": "averages are of counts alone",
}

// richRecord pushes a record in which nothing is zero, and returns what a reader gets. It reports whether
// events can be counted.
func richRecord(t *testing.T) (rec *taskrecord.Record, counted bool) {
	var pcs [perf.MaxStretchStack]uintptr
	n := uint8(runtime.Callers(1, pcs[:]))
	k := kindOf("rich", false)
	clock := filled[taskrecord.Clock]()
	task := &Task{kind: k, trace: filled[taskrecord.TraceID](), span: filled[taskrecord.SpanID](), parent: filled[taskrecord.SpanID](), first: &clock, goid: 5}

	u := filled[perf.TaskUsage]()
	u.Began = 1
	r := regionSum{"region", 1, 2, 2, filled[perf.GoroutineTime](), filled[[perf.MaxEvents]perf.Count]()}
	d := &details{
		notes:   filled[[]taskrecord.Note](),
		regions: []regionSum{r},
		spans:   []span{{"region", 5, 2, 3}},
		calls:   []call{{filled[taskrecord.SpanID](), k.id, taskrecord.Client, 2, 3, "elsewhere", 5, 6}},
		lost:    filled[taskrecord.Lost](),
	}
	s := filled[perf.TaskStretch]()
	s.Stack, s.StackLen, s.WakerStack, s.WakerLen = pcs, n, pcs, n
	s.WakerKind, s.BehindKind = k.id, k.id
	var set *eventSet
	c, err := pprof_counterNew([]string{"task-clock"})
	if err == nil {
		set, err = newEventSet(c)
	}
	if err != nil {
		t.Logf("counts are not tested: %v", err)
	}

	in := openRings(false)
	for i := range in.at {
		in.at[i].lost = 1
	}
	p := new(packer)
	p.begin(task, &clock, &u, set, taskrecord.Slow, d, 5)
	p.slow(&u, d, &usual{1, 2, filled[perf.GoroutineTime](), 1, filled[[perf.MaxEvents]uint64]()})
	p.stretches(&u, []perf.TaskStretch{s})
	p.outlived([]perf.TaskGoroutine{{Goid: 5, Start: reflect.ValueOf(richRecord).Pointer(), Created: pcs[0], Part: 1}})
	p.end(&u, d)
	if !runtime_perfTaskPush(perf.SlowTaskRing, p.w) {
		t.Fatal("the ring does not take the record")
	}
	for {
		if rec = in.Next(); rec == nil || rec.Kind == "rich" {
			return rec, err == nil
		}
	}
}

// TestRingFields fails if a field is added to taskrecord.Record that the ring does not carry. It pushes a
// record with all that there is to push, and looks for each field in what is read back.
func TestRingFields(t *testing.T) {
	if err := Start(Config{Server: 7, Name: "rich"}); err != nil {
		t.Fatal(err)
	}
	defer Stop()
	rec, counted := richRecord(t)
	if rec == nil {
		t.Fatal("the record is not in the ring")
	}
	carried := make(map[string]bool)
	leaves(reflect.ValueOf(rec).Elem(), "Record", func(path string, zero bool) { carried[path] = carried[path] || !zero })
	if len(carried) < 80 {
		t.Errorf("only %d fields", len(carried))
	}
	if !counted {
		for _, u := range []string{"", ".Regions", ".Usual"} {
			for _, f := range []string{"Value", "Enabled", "Running"} {
				carried["Record"+u+".Usage.Count."+f] = true
			}
		}
		carried["Record.Events"] = true
	}
	for path, ok := range carried {
		if !ok && notInRing[path] == "" {
			t.Errorf("the ring does not carry %s", path)
		}
	}
	for path := range notInRing {
		if _, ok := carried[path]; !ok {
			t.Errorf("there is no %s", path)
		}
	}
	// Of an array, all elements are there.
	if slices.Contains(rec.Parts[:], 0) || slices.Contains(rec.Ender.Parts[:], 0) || slices.Contains(rec.Regions[0].Parts[:], 0) || slices.Contains(rec.Usual.Parts[:], 0) {
		t.Errorf("a part is missing: %v, %v, %v, %v", rec.Parts, rec.Ender.Parts, rec.Regions[0].Parts, rec.Usual.Parts)
	}
}
