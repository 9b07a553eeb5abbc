// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

// KindText returns a kind as tables of kinds name it. Calls are apart from other tasks whose kind has
// the same name.
func KindText(kind string, client bool) string {
	if client {
		return kind + " (call)"
	}
	return kind
}

func (t *Record) kindText() string { return KindText(t.Kind, t.Flags&Client != 0) }
