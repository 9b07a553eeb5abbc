// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package prof reads profiles that may come from anybody, and writes them with a label more.
package prof

import (
	"fmt"
	"internal/profile"
	"io"
)

// A File is a profile and the bytes it was read from.
type File struct {
	*profile.Profile
	data []byte // without compression
}

// Read reads a profile. One of more than 64 MiB without its compression is an error, and so
// is one of more than 2 million samples, locations, functions and strings, or of 16 million
// functions in its stacks.
func Read(r io.Reader) (*File, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if data, err = unzip(data); err != nil {
		return nil, fmt.Errorf("decompressing profile: %w", err)
	}
	raw, err := parse(data)
	if err != nil {
		return nil, err
	}
	return &File{raw, data}, nil
}

// Stack returns the functions of a sample, innermost first.
func Stack(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			names = append(names, line.Function.Name)
		}
	}
	return names
}
