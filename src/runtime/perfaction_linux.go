// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// SIGPROF's handler: installed for the first session, given back after the last.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// perfInstallHandler makes sure that SIGPROF reaches Go's handler, like
// setProcessCPUProfilerTimer, but leaves ITIMER_PROF alone.
func perfInstallHandler() {
	mask := lockSigprof()
	perfProf.handler = true
	if atomic.Cas(&handlingSig[_SIGPROF], 0, 1) {
		h := getsig(_SIGPROF)
		if h == _SIG_DFL {
			h = _SIG_IGN // a stray signal must not kill; see setProcessCPUProfilerTimer
		}
		atomic.Storeuintptr(&fwdSig[_SIGPROF], h)
		setsig(_SIGPROF, abi.FuncPCABIInternal(sighandler))
	}
	unlockSigprof(mask)
}

// perfRestoreHandler gives SIGPROF back to the handler it had before, unless the
// timer or another session still uses it. Starts and stops come one after the
// other.
func perfRestoreHandler() {
	mask := lockSigprof()
	perfProf.handler = perfProf.state.Load() == perfSampling
	if !perfProf.handler && prof.hz.Load() == 0 && !sigInstallGoHandler(_SIGPROF) && atomic.Cas(&handlingSig[_SIGPROF], 1, 0) {
		perfDiscard()
		if h := atomic.Loaduintptr(&fwdSig[_SIGPROF]); h != _SIG_IGN {
			setsig(_SIGPROF, h)
		}
	}
	unlockSigprof(mask)
}

// perfDiscard discards the signals of sessions that have ended, before SIGPROF gets
// a handler that does not expect them. Ignoring a signal discards all that are
// pending on any thread (do_sigaction in kernel/signal.c), also one of the
// program's own. A signal for which the kernel had already chosen Go's handler is
// left to perfForward. The caller holds prof.signalLock and sets the handler next.
func perfDiscard() {
	if perfProf.used.Load() {
		setsig(_SIGPROF, _SIG_IGN)
	}
}

// perfForward returns which handler gets a signal that Go does not handle: fwdFn,
// but none if it was sent for a session that has ended since. The program's handler
// gets the signals of the program's own descriptors: those still send the signal,
// while a session's are closed before the handler is given back.
//
// sigfwdgo calls it, perhaps without a g. It reads what is set once, and asks the
// kernel.
//
//go:nosplit
//go:nowritebarrierrec
func perfForward(fwdFn uintptr, sig uint32, info *siginfo, ctx unsafe.Pointer) uintptr {
	if sig != _SIGPROF || !perfProf.used.Load() {
		return fwdFn
	}
	if fd := perfSigFD(&sigctxt{info, ctx}); fd >= 0 {
		if own, errno := fcntl(fd, _F_GETSIG, 0); errno != 0 || own != _SIGPROF {
			return _SIG_IGN
		}
	}
	return fwdFn
}

// lockSigprof takes prof.signalLock, which guards SIGPROF's handler against
// setcpuprofilerate. The timer's handler takes it too, so no signal may reach this
// thread meanwhile. It returns the signal mask for unlockSigprof.
func lockSigprof() (mask sigset) {
	acquirem()
	sigsave(&mask)
	sigblock(false)
	for !prof.signalLock.CompareAndSwap(0, 1) {
		osyield()
	}
	return mask
}

func unlockSigprof(mask sigset) {
	prof.signalLock.Store(0)
	msigrestore(mask)
	releasem(getg().m)
}
