// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Bounds of profiles: a file of 1.5 MB may be 1.5 GB without its compression, and what is made of
// it many times as large again. Those of package runtime/pprof/ratio are the same.
const (
	maxSize     = 64 << 20 // bytes, without compression
	maxMessages = 2 << 20  // samples, locations, functions, strings
	maxStacks   = 16 << 20 // functions in all samples' stacks
)

// tooLarge says which bound a profile exceeds.
func tooLarge(bound int, of string) error {
	return fmt.Errorf("the profile has more than %d %s: take one of fewer seconds, or merge fewer of them", bound, of)
}

// ReadAll reads a profile as it is, or what its compression has.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = tooLarge(maxSize, "bytes")
	}
	return data, err
}

// unzip reads what a profile's compression has.
func unzip(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return ReadAll(z)
}
