// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu

package main

import "errors"

func events() ([]event, error) {
	return nil, errors.New("this program was built by a Go that cannot sample events: run it with goroot/bin/go, which ./make.bash makes")
}
