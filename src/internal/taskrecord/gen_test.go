// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"fmt"
	"math/rand"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// genNames are names and texts that tasks may have, the odd ones last.
var genNames = []string{
	"GET /", "POST /order/{id}", "flush", "report", "decode", "encode", "db", "cache",
	"chan receive", "sync.Mutex.Lock", "select", "IO wait",
	"main.(*server).handle", "sync.(*Mutex).Lock", "net/http.HandlerFunc.ServeHTTP",
	"/src/main.go", "/usr/lib/go/src/sync/mutex.go",
	"", "<script>alert('x')</script>", `quo"ted\`, "line\nfeed\ttab\x00nul\x1b[31m",
	"U+2028 \u2028 U+2029 \u2029 BOM \ufeff", "日本語", "🙂", "\xff\xfe invalid \xc3\x28",
	magic, magic[:7] + "\x00", magic[:7], strings.Repeat("long ", 50),
}

func genName(r *rand.Rand) string {
	if r.Intn(4) == 0 {
		return fmt.Sprintf("%s#%d", genNames[r.Intn(len(genNames))], r.Intn(100))
	}
	return genNames[r.Intn(len(genNames))]
}

// anyValue sets v and all that it holds to something, whether that makes sense or not,
// as far as a file can hold it. Slices have as many elements as size says, on average;
// empty ones are nil.
func anyValue(r *rand.Rand, v reflect.Value, size int) {
	switch v.Type() {
	case reflect.TypeFor[Clock]():
		c := Clock{N: uint8(r.Intn(MaxClock + 1)), Overflow: r.Intn(2) == 0}
		for i := range c.Entry[:c.N] {
			c.Entry[i] = ClockEntry{uint16(r.Intn(1 << 16)), r.Uint32()}
		}
		v.Set(reflect.ValueOf(c))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			anyValue(r, v.Field(i), size)
		}
	case reflect.Array:
		for i := range v.Len() {
			if r.Intn(3) != 0 {
				anyValue(r, v.Index(i), size)
			}
		}
	case reflect.Slice:
		n := r.Intn(2*size + 1)
		v.SetZero()
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			anyValue(r, v.Index(i), size/2)
		}
	case reflect.Pointer:
		v.SetZero()
		if r.Intn(4) != 0 || v.Type() == reflect.TypeFor[*Server]() {
			v.Set(reflect.New(v.Type().Elem()))
			anyValue(r, v.Elem(), size)
		}
	case reflect.String:
		v.SetString(genName(r))
	case reflect.Bool:
		v.SetBool(r.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.Intn(64))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> r.Intn(64) & (1<<v.Type().Bits() - 1))
	default:
		panic("task: the generator does not know " + v.Type().String())
	}
}

// allFlags are the flags that there are.
var allFlags = func() (all Flags) {
	for _, f := range AllFlags {
		all |= f.Flag
	}
	return all
}()

// anyTask returns a task with anything in it.
func anyTask(r *rand.Rand) *Record {
	t := new(Record)
	anyValue(r, reflect.ValueOf(t).Elem(), 4)
	return t
}

// randomTask returns a task as there could be one: flags, parts and times are valid,
// each usage has a count of each event, times within the task are so, and its timeline
// is in order. All fields are set at times. Texts may be odd.
func randomTask(r *rand.Rand) *Record {
	t := anyTask(r)
	t.Flags &= allFlags
	t.Server.Start = 1_700_000_000_000_000_000 + r.Int63n(1e15)
	t.Server.PID = 1 + r.Intn(1<<22)
	t.Server.ID = uint16(1 + r.Intn(1000))
	t.Start = t.Server.Start + r.Int63n(1e15)
	t.Wall = time.Duration(1 + r.Int63n(1e9))
	t.Goroutines = 1 + r.Int63n(10)
	t.Outliving = int64(len(t.Outlived)) + r.Int63n(2)
	slices.Sort(t.Events)
	t.Events = slices.Compact(t.Events)

	usage := func(u *Usage) {
		for p := range u.Parts {
			u.Parts[p] = 0
			if r.Intn(3) == 0 {
				u.Parts[p] = time.Duration(r.Int63n(1e9))
			}
		}
		u.Measured = time.Duration(r.Int63n(1 + int64(u.Parts[0]+u.Parts[1])))
		u.Switches, u.Preemptions, u.Migrations = r.Int63n(1000), r.Int63n(100), r.Int63n(100)
		u.Count = nil
		for range t.Events {
			n := time.Duration(r.Int63n(1e9))
			u.Count = append(u.Count, pprof.CounterValue{Value: uint64(r.Int63n(1e12)), Enabled: n, Running: n - time.Duration(r.Int63n(2)*r.Int63n(1+int64(n)))})
		}
	}
	usage(&t.Usage)
	if t.Usual != nil {
		t.Usual.Tasks = 1 + r.Int63n(1e6)
		t.Usual.Wall = time.Duration(r.Int63n(1e9))
		usage(&t.Usual.Usage)
	}
	for i := range t.Regions {
		g := &t.Regions[i]
		g.N = 1 + r.Int63n(10)
		g.Wall = time.Duration(r.Int63n(1e9))
		g.Max = time.Duration(r.Int63n(1 + int64(g.Wall)))
		usage(&g.Usage)
	}

	// times returns n times within the task, in order.
	times := func(n int) []time.Duration {
		ts := make([]time.Duration, n)
		for i := range ts {
			ts[i] = time.Duration(r.Int63n(int64(t.Wall) + 1))
		}
		slices.Sort(ts)
		return ts
	}
	at := times(len(t.Calls))
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Flags &= allFlags
		c.Start = at[i]
		c.Wall = time.Duration(r.Int63n(int64(t.Wall-c.Start) + 1))
	}
	for i := range t.Timeline {
		s := &t.Timeline[i]
		ts := times(3)
		if r.Intn(3) == 0 {
			if s.Region == "" {
				s.Region = "region"
			}
			*s = Stretch{Goroutine: s.Goroutine, Region: s.Region, Start: ts[0], Wake: ts[2], End: ts[2]}
			continue
		}
		s.Region = ""
		s.Part %= NumParts
		s.Start, s.Wake, s.End = ts[0], ts[1], ts[2]
		if s.OnThread {
			s.Wake = s.End
		}
		s.Behind = time.Duration(r.Int63n(int64(s.End-s.Wake) + 1))
		s.Stopped = time.Duration(r.Int63n(int64(s.End-s.Start) + 1))
	}
	slices.SortStableFunc(t.Timeline, func(a, b Stretch) int { return int(a.Start - b.Start) })
	for i := range t.Outlived {
		t.Outlived[i].Part %= NumParts
	}
	return t
}

// TestRandomTask tests that random tasks and calls have each flag at times: tests of views rely on it.
func TestRandomTask(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var tasks, calls Flags
	for range 100 {
		task := randomTask(r)
		tasks |= task.Flags
		for i := range task.Calls {
			calls |= task.Calls[i].Flags
		}
	}
	if tasks != allFlags || calls != allFlags {
		t.Errorf("tasks have flags %#x, and calls %#x; there are %#x", tasks, calls, allFlags)
	}
}
