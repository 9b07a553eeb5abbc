// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "internal/runtime/atomic"

// perfSpecialsChange is called before a change of the list of specials of s, with
// s.speciallock held. See perfSpanLook.
func perfSpecialsChange(s *mspan) {
	atomic.Xadd(&s.specialSeq, 1)
	publicationBarrier() // the change comes after it
}
