// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package prof

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"internal/profile"
	"io"
)

// Bounds of profiles. A file of 1.5 MB may be 1.5 GB without its compression, and what is made of
// it many times as large again. A profile by runtime/pprof takes 20 MiB of memory at most.
const (
	maxSize     = 64 << 20 // bytes, without compression
	maxMessages = 2 << 20  // samples, locations, functions, strings
	maxStacks   = 16 << 20 // of all samples' stacks
)

// tooLarge says which bound a profile exceeds.
func tooLarge(bound int, of string) error {
	return fmt.Errorf("the profile has more than %d %s: take one of fewer seconds, or merge fewer of them", bound, of)
}

// readAll reads a profile, or what its compression has.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = tooLarge(maxSize, "bytes")
	}
	return data, err
}

var gzipMagic = []byte{0x1f, 0x8b}

// unzip returns a profile without compression.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, gzipMagic) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data, err = readAll(z); err == nil && bytes.HasPrefix(data, gzipMagic) {
		err = errFormat // which package profile would decompress again, without a bound
	}
	return data, err
}

// parse parses a profile without compression.
func parse(data []byte) (*profile.Profile, error) {
	messages := 0
	fields(data, func(field int, all, message []byte) { messages++ }) // of an error Parse says what it is
	if messages > maxMessages {
		return nil, tooLarge(maxMessages, "samples, locations, functions and strings")
	}
	raw, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is not a profile, or a damaged one: %w", err)
	}
	// A location may have any number of functions, and be in any number of stacks.
	frames := 0
	for _, s := range raw.Sample {
		for _, l := range s.Location {
			if frames += len(l.Line); frames > maxStacks {
				return nil, tooLarge(maxStacks, "functions in its stacks")
			}
		}
	}
	return raw, nil
}
