// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// perfosRewind has the slot's buffer begin at its start again if it is empty. The caller
// is the session's reader.
//
// It excludes handlers by the slot's lock, and so no signal may reach this thread
// meanwhile; see perfSlot.lock.
func perfosRewind(s *perfSlot) {
	acquirem()
	var mask sigset
	sigsave(&mask)
	sigblock(false)
	for !s.lock.CompareAndSwap(0, 1) {
		osyield()
	}
	s.buf.rewind()
	s.lock.Store(0)
	msigrestore(mask)
	releasem(getg().m)
}
