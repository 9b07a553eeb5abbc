// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu && !grunning && linux && (amd64 || arm64)

package main

var kinds = []kind{{"stock", func([]string) (*account, error) { return nil, nil }}}

func newCalls([]string) ([]call, error) { return nil, nil }
