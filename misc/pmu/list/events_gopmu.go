// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu

package main

import "runtime/pprof"

// events returns the events that have a name here, each tried.
func events() ([]event, error) {
	var list []event
	for _, e := range pprof.Events() {
		list = append(list, event{
			name:    e.Name,
			aliases: e.Aliases,
			kind:    e.Kind,
			unit:    e.Unit,
			period:  e.Period,
			sampled: e.Sampled,
			err:     e.Err,
		})
	}
	return list, nil
}
