// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"errors"
	"internal/perfevent"
	"io/fs"
	"testing"
)

// deniedFS is a tracefs as ordinary users see it.
type deniedFS struct{ err error }

func (f deniedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
}

func TestTracefsUnreadable(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fs.ErrPermission, `perf event "sched:sched_switch": /sys/kernel/tracing cannot be read (permission denied); run as root, or let root do: mount -o remount,mode=755 /sys/kernel/tracing`},
		{fs.ErrNotExist, `perf event "sched:sched_switch": tracefs is not mounted on /sys/kernel/tracing; let root do: mount -t tracefs nodev /sys/kernel/tracing`},
	} {
		r := &perfevent.Resolver{Tracefs: deniedFS{tt.err}}
		_, err := r.Parse("sched:sched_switch")
		if errString(err) != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
		if !errors.Is(err, tt.err) {
			t.Errorf("%v does not wrap %v", err, tt.err)
		}
	}
}
