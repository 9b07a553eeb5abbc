// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
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
	zeros := bytes.Repeat(compress(t, make([]byte, mib)), 300)
	// A location of many functions, which a stack has many times.
	location := appendField(nil, 1, 1, nil)
	for i := 0; i < 50_000; i++ {
		location = appendField(location, 4, 0, appendField(nil, 1, 1, nil))
	}
	deep := appendField(nil, 6, 0, []byte{})
	deep = appendField(deep, 5, 0, appendField(nil, 1, 1, nil))
	deep = appendField(deep, 4, 0, location)
	deep = appendField(deep, 2, 0, appendField(nil, 1, 0, bytes.Repeat([]byte{1}, 50_000)))
	const remedy = ": take one of fewer seconds, or merge fewer of them"
	read := func(data []byte) error {
		_, err := Read(bytes.NewReader(data))
		return err
	}
	for _, test := range []struct {
		name string
		data []byte
		read func(data []byte) error
		want string
		most uint64 // bytes allocated
	}{
		{"zeros", zeros, read, "the profile has more than 67108864 bytes" + remedy, 512 * mib},
		{"messages", compress(t, bytes.Repeat([]byte{2<<3 | 2, 0}, 3<<20)), read, "the profile has more than 2097152 samples, locations, functions and strings" + remedy, 512 * mib},
		{"stacks", compress(t, deep), read, "the profile has more than 16777216 functions in its stacks" + remedy, 512 * mib},
		{"label", zeros, func(data []byte) error {
			return WriteLabeled(io.Discard, data, "key", func(int) string { return "" })
		}, "the profile has more than 67108864 bytes" + remedy, 512 * mib},
		{"plain", make([]byte, 70*mib), func(data []byte) error {
			_, err := ReadAll(bytes.NewReader(data))
			return err
		}, "the profile has more than 67108864 bytes" + remedy, 512 * mib},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := test.read(test.data)
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
