// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// How threads that are sampled without signals come to know that a goroutine leaves.
// See perfquiet_linux.go.
//
// The schedule path has no place for that. But casgstatus tells accounts of each change
// of status (perfstatus.go), at no cost for goroutines that have none. So while there is
// such a session each goroutine has an account: its own, perfBubbled or perfFollowed.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// perfQuiet is how many sessions sample threads without signals.
var perfQuiet atomic.Uint32

// perfQuietStart begins such a session. The world is stopped for it: goroutines' accounts
// are their own.
func perfQuietStart() {
	perfSetAccountHooks()
	stw := stopTheWorld(stwAllGoroutinesStack)
	perfQuiet.Add(1)
	forEachGRace(func(gp *g) {
		// A dead one's next life gets one from whoever starts it.
		if gp.account == 0 && readgstatus(gp) != _Gdead {
			gp.account = perfFollowed.ref()
		}
	})
	startTheWorld(stw)
}

// perfQuietStop ends one. Goroutines lose perfFollowed when their status changes next.
func perfQuietStop() { perfQuiet.Add(-1) }

// perfUnfollow takes perfFollowed away from gp, whose status has become new, if gp has
// ended or no session wants it any more.
//
// A goroutine that comes back from a system call changes its status also while the world
// is stopped, so a session may begin in between. Then either perfQuietStart sees that gp
// has no account, or the second look here sees that there is a session.
//
//go:nosplit
//go:nowritebarrierrec
func perfUnfollow(gp *g, new uint32) {
	if new != _Gdead && perfQuiet.Load() != 0 {
		return
	}
	account := (*uintptr)(unsafe.Pointer(&gp.account))
	atomic.Storeuintptr(account, 0)
	if new != _Gdead && perfQuiet.Load() != 0 {
		atomic.Storeuintptr(account, uintptr(perfFollowed.ref()))
	}
}

// perfRelabel is called when a goroutine is about to change its labels.
func perfRelabel() {
	if perfQuiet.Load() != 0 {
		perfRelabelQuiet() // apart, so that this is inlined
	}
}

func perfRelabelQuiet() { systemstack(func() { perfLeave(getg().m, false) }) }

// perfStatusQuiet has the thread's ring read if this change of status of its goroutine
// makes what is there another's: if the goroutine leaves the thread, if it returns from
// newstack, or from C.
//
//go:nosplit
//go:nowritebarrierrec
func perfStatusQuiet(old, new uint32) {
	switch old {
	case _Grunning:
		if new == _Gsyscall || new == _Gcopystack {
			return
		}
	case _Gsyscall:
		if new == _Grunning && !iscgo {
			return
		}
	case _Gcopystack:
	default:
		return
	}
	if mp := getg().m; getg() == mp.g0 {
		perfLeave(mp, old == _Gcopystack)
	} else {
		systemstack(func() { perfLeave(getg().m, false) })
	}
}
