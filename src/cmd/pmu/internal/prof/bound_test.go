// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package prof

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"strings"
	"testing"
)

func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	z.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBombs tests that what is made of a small file is bounded, and that the error says by what.
func TestBombs(t *testing.T) {
	const mib = 1 << 20
	// Members of gzip follow each other: 300 of them are 300 MiB.
	bomb := bytes.Repeat(compress(t, make([]byte, mib)), 300)
	const (
		bytesWant    = "%sthe profile has more than 67108864 bytes: take one of fewer seconds, or merge fewer of them"
		messagesWant = "the profile has more than 2097152 samples, locations, functions and strings: take one of fewer seconds, or merge fewer of them"
		framesWant   = "the profile has more than 16777216 functions in its stacks: take one of fewer seconds, or merge fewer of them"
	)
	// A location of many functions, which a stack has many times.
	var location, sample []byte
	line := appendBytes(nil, 4, appendNumber(nil, 1, 1))
	location = appendNumber(location, 1, 1)
	location = append(location, bytes.Repeat(line, 50_000)...)
	sample = appendBytes(sample, 1, bytes.Repeat([]byte{1}, 50_000))
	sample = appendBytes(sample, 2, []byte{1})
	var deep []byte
	deep = appendBytes(deep, fieldString, nil)
	deep = appendBytes(deep, 1, nil) // the type of samples
	deep = appendBytes(deep, 5, appendNumber(nil, 1, 1))
	deep = appendBytes(deep, 4, location)
	deep = appendBytes(deep, fieldSample, sample)
	for _, test := range []struct {
		name string
		data []byte
		want string
		most uint64 // bytes allocated
	}{
		{"zeros", bomb, strings.ReplaceAll(bytesWant, "%s", "decompressing profile: "), 512 * mib},
		{"twice", compress(t, bomb), "decompressing profile: not a profile", 64 * mib},
		{"plain", make([]byte, 70*mib), strings.ReplaceAll(bytesWant, "%s", ""), 512 * mib},
		{"messages", compress(t, bytes.Repeat([]byte{fieldSample<<3 | 2, 0}, 3<<20)), messagesWant, 64 * mib},
		{"frames", compress(t, deep), framesWant, 64 * mib},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(test.data))
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
		n := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: of %d bytes %d were allocated", test.name, len(test.data), n)
		if n > test.most {
			t.Errorf("%s: of %d bytes %d were allocated, want %d at most", test.name, len(test.data), n, test.most)
		}
	}
}

// TestOther tests that the error of what is no profile says that.
func TestOther(t *testing.T) {
	for _, data := range []string{"", "a,b\n1,2\n", "<html>", "{}"} {
		const want = "it is not a profile, or a damaged one: "
		if _, err := Read(strings.NewReader(data)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s...", data, err, want)
		}
	}
}
