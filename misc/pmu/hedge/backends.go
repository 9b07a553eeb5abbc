// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"fmt"
	"net/url"
	"strings"

	"pmu/hedge/hedge"
)

// Backends is the flag -backend.
type backends []hedge.Backend

func (b *backends) String() string { return "" }

func (b *backends) Set(arg string) error {
	server, source, _ := strings.Cut(arg, ",")
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	backend := hedge.Backend{URL: u}
	switch {
	case source == "":
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		if _, err := url.Parse(source); err != nil {
			return err
		}
		backend.Source = hedge.Stream(source, nil)
	case strings.HasPrefix(source, "/"):
		backend.Source = hedge.File(source)
	default:
		return fmt.Errorf("%q: want the absolute name of a file, or a URL", source)
	}
	*b = append(*b, backend)
	return nil
}
