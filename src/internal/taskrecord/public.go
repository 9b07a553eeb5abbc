// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

// Public returns a copy of t without what may be secret, which is what the program has
// noted: keys and values of notes. It is for records that leave the hands of those who
// may see what a request was about. What remains comes from the program's text and from
// the runtime, if kinds and names of regions do, and from the network: IDs, and addresses
// of the servers that were called. The copy shares with t what it has in common with it.
func (t *Record) Public() *Record {
	p := *t
	p.Notes = nil
	return &p
}
