// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"os"
	"runtime/pprof"
	"runtime/task"
	"syscall"
	"time"
)

func init() {
	plants = append(plants, plant{name: "page faults", cause: "page faults", text: "page-faults ", alone: true, counts: true, do: (*planted).faults})
}

// faults touches fresh memory, in areas that are smaller than a huge page. It goes on
// until there were as many faults as the time that it ran is worth, which may be without a
// CPU for some of it.
func (p *planted) faults(_ context.Context, t *task.Task) {
	const (
		size = 1 << 20
		each = 50 * time.Microsecond // for a fault, at most
	)
	for {
		u, _ := t.Usage()
		running := u.Part(pprof.TimeRunning)
		if len(u.Counts) == 1 && running >= plantedTime && time.Duration(u.Counts[0].Value)*each >= running {
			return
		}
		if u.Wall > time.Minute {
			p.t.Errorf("too few faults in a minute: %+v", u)
			return
		}
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			p.t.Errorf("no memory to be touched: %v", err)
			return
		}
		for i := 0; i < size; i += os.Getpagesize() {
			b[i] = 1
		}
		if err := syscall.Munmap(b); err != nil {
			p.t.Error(err)
		}
	}
}
