// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"internal/zstd"
	"io"
)

// This file reads what is compressed. Who wants to have a file read may not have written it, so what
// comes out is bounded, too.

const (
	// inflateFree is how much may come out of any file.
	inflateFree = 64 << 20

	// inflateMost is how many times its size may come out of a larger one. JSON of spans, all alike,
	// has been seen with 40.
	inflateMost = 200
)

// An inflater reads a compressed file.
type inflater struct {
	name    string
	r       io.Reader
	in, out int64 // bytes so far
	max     int64 // of out
	src     io.Reader
}

// Inflate returns a reader of what is in r, decompressed if it is compressed by gzip or zstd, and whether
// it is. At most max bytes come out.
func Inflate(r *bufio.Reader, max int64) (io.Reader, bool, error) {
	head, _ := r.Peek(4)
	x := &inflater{src: r, max: max}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		x.name = "gzip"
		z, err := gzip.NewReader(bufio.NewReader(readerFunc(x.compressed)))
		if err != nil {
			return nil, true, fmt.Errorf("it is compressed by gzip: %w", err)
		}
		x.r = z
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		x.name = "zstd"
		x.r = zstd.NewReader(readerFunc(x.compressed))
	default:
		return r, false, nil
	}
	return x, true, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// compressed reads from the file itself.
func (x *inflater) compressed(p []byte) (int, error) {
	n, err := x.src.Read(p)
	x.in += int64(n)
	return n, err
}

func (x *inflater) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	x.out += int64(n)
	if x.out > x.max {
		return 0, fmt.Errorf("more than %d bytes come out of it by %s: raise -max to read the rest", x.max, x.name)
	}
	if x.out > inflateFree && x.out/inflateMost > x.in {
		return 0, fmt.Errorf("%d bytes come out of %d by %s, which is no file of requests: decompress it to have it read", x.out, x.in, x.name)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("it is compressed by %s: %w", x.name, err)
	}
	return n, err
}
