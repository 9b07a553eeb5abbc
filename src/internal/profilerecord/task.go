// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profilerecord

// A Task is the task of a goroutine in the goroutine profile. The zero Task is none.
type Task struct {
	// Kind is that of the task that the goroutine works for, or, if Began, of the one that it began in, and
	// that has ended. Trace is the ID of that one's request.
	Kind  uint32
	Began bool
	Trace [16]byte
}
