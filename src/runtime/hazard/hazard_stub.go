// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package hazard

import (
	"context"
	"errors"
	"fmt"
)

var errLinux = fmt.Errorf("pages are published on Linux only: %w", errors.ErrUnsupported)

// File returns the file that [Publish] chooses for the process with an ID, if the user and the namespace
// of process IDs are the same and the file's name was left to it. Elsewhere than on Linux there is none.
func File(pid int) string { return "" }

type publisher struct{}

func (p *publisher) publish(file string) error        { return errLinux }
func (p *publisher) set(s State, reason string) error { return errLinux }
func (p *publisher) close() error                     { return errLinux }

type watcher struct{}

func (w *watcher) open(file string) error                                 { return errLinux }
func (w *watcher) status() (Status, error)                                { return Status{}, errLinux }
func (w *watcher) wait(ctx context.Context, after Status) (Status, error) { return after, errLinux }
func (w *watcher) changes(after uint64) (list []Change, missed uint64, err error) {
	return nil, 0, errLinux
}
func (w *watcher) close() error { return errLinux }
