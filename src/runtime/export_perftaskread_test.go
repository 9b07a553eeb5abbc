// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// PerfLetGo returns how many times tasks' locks were let go of; see perftaskread.go.
func PerfLetGo() int64 { return perfLetGo.Load() }
