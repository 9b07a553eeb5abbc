// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf_test

import (
	. "internal/runtime/perf"
	"reflect"
	"testing"
)

// TestUsageAddSince tests Add by Sub, and AddSince by both.
func TestUsageAddSince(t *testing.T) {
	n := int64(1)
	fill := func() (u GoroutineTime) {
		var set func(v reflect.Value)
		set = func(v reflect.Value) {
			switch n = n*7 + 3; v.Kind() {
			case reflect.Int64:
				v.SetInt(n % 1000)
			case reflect.Uint64:
				v.SetUint(uint64(n % 1000))
			case reflect.Array:
				for i := range v.Len() {
					set(v.Index(i))
				}
			default:
				t.Fatalf("a field is a %v", v.Type())
			}
		}
		for i := range reflect.TypeFor[GoroutineTime]().NumField() {
			set(reflect.ValueOf(&u).Elem().Field(i))
		}
		return u
	}
	for range 10 {
		then, sum := fill(), fill()
		now := fill()
		back := now
		back.Wall -= then.Wall // which Add leaves alone
		now.Add(&then)
		since := now
		if since.Sub(&then); since != back {
			t.Fatalf("%+v after Add and Sub, want %+v", since, back)
		}
		want := sum
		want.Add(&since)
		if sum.AddSince(&now, &then); sum != want {
			t.Fatalf("%+v, want %+v", sum, want)
		}
	}
}
