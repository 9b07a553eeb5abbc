// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// IDs of the servers in clocks.
const (
	clientID = 1
	serverID = 2
)
