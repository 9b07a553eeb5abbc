// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"errors"
	"os"
	"runtime/hazard"
	"time"
)

// File returns a source that reads the page that a server of this machine publishes in a file; see
// [hazard.Open]. When the server has ended, the next one that publishes there is watched.
func File(name string) Source { return &fileSource{name: name} }

// A fileSource is used by one goroutine.
type fileSource struct {
	name string
	w    *hazard.Watcher // or nil
}

func (s *fileSource) Wait(ctx context.Context, after hazard.Status) (hazard.Status, error) {
	if s.w == nil {
		w, err := hazard.Open(s.name)
		if errors.Is(err, os.ErrProcessDone) && after.State != hazard.Gone {
			return hazard.Status{State: hazard.Gone, Reason: "ended before", Since: time.Now()}, nil
		}
		if err != nil {
			return after, err
		}
		s.w = w
		after = hazard.Status{} // which may be that of another process
	}
	next, err := s.w.Wait(ctx, after)
	if err != nil && ctx.Err() == nil {
		s.Close()
	}
	return next, err
}

// Close ends the watcher. The source may be used again.
func (s *fileSource) Close() error {
	if s.w == nil {
		return nil
	}
	w := s.w
	s.w = nil
	return w.Close()
}
