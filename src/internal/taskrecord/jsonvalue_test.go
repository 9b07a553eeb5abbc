// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"testing"
	"time"
)

// TestAppendJSONString compares with package json.
func TestAppendJSONString(t *testing.T) {
	check := func(s string) {
		t.Helper()
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendJSONString(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
	}
	for c := rune(0); c <= 0x3000; c++ {
		check("a" + string(c) + "b")
	}
	r := rand.New(rand.NewSource(1))
	for range 10_000 {
		b := make([]byte, r.Intn(10))
		for i := range b {
			b[i] = "\x00\n\"\\<a\x7f\x80\xe2\x80\xa8\xef\xbf\xbd\xf0\x9f\x99\x82\xff"[r.Intn(18)]
		}
		check(string(b))
	}
}

// TestAppendJSONMap compares with package json.
func TestAppendJSONMap(t *testing.T) {
	for _, m := range []map[string]time.Duration{{}, {"b": 1, "a<": -2, "": 3}, {"\xff": 1 << 62}} {
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var o jsonObject
		o.marshal(&m)
		if !bytes.Equal(o.b, want) {
			t.Errorf("got %s, want %s", o.b, want)
		}
	}
}
