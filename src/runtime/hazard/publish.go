// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import "fmt"

// A Publisher is the page that this process publishes. Its methods may be called by several
// goroutines at once. Those of a nil Publisher do nothing, so a program can go on without. A
// zero Publisher is closed.
type Publisher struct{ publisher }

// Publish publishes the state of this process in a file until [Publisher.Close] is called or the
// process ends. It begins with [OK], or whatever the runtime does at the moment. The file must be on tmpfs, such as below
// /dev/shm. If file is empty, it is [File] of this process, whose directory is made if need be.
//
// The file has mode 0600. If there is one that a process has left behind that has ended, it is replaced. In the
// directory of [File] those of others that have ended are removed as well. If
// a process publishes in it, and so if this one publishes already, the error is [io/fs.ErrExist]. It is
// [errors.ErrUnsupported] where no file can be published: not on Linux, not on tmpfs, without a
// /dev/shm, or in a bubble of [testing/synctest]. Whatever the error, nothing is left behind.
//
// When the process ends by returning from main or by [os.Exit], the file is removed. When it is killed, or
// a goroutine panics, the file stays, and [Open] returns an error.
//
// A page that is published adds two system calls to each stop of the world, of some 0.2 us, and a
// microsecond or two for each who waits. Both are made while goroutines run. A goroutine
// looks once a second whether anybody waits.
func Publish(file string) (*Publisher, error) {
	p := new(Publisher)
	if err := p.publish(file); err != nil {
		return nil, fmt.Errorf("hazard: %w", err)
	}
	return p, nil
}

// Set says what state the program is in: OK, Starting, Overloaded or Draining. The reason is for
// people: 40 bytes of UTF-8 at most, without control characters. Setting what is set
// already changes nothing.
//
// It is an error if the state or the reason can't be set, or if nobody can read it: after Close
// ([io/fs.ErrClosed]), or since something has cut or removed the file. For that it asks the kernel.
func (p *Publisher) Set(s State, reason string) error {
	if p == nil {
		return nil
	}
	if !s.settable() {
		return fmt.Errorf("hazard: a program can't be %v by its own account: set OK, Starting, Overloaded or Draining", s)
	}
	if len(reason) > maxReason || !plain(reason) {
		return fmt.Errorf("hazard: reason %q: want %d bytes of UTF-8 at most, without control characters", reason, maxReason)
	}
	if err := p.set(s, reason); err != nil {
		return fmt.Errorf("hazard: %w", err)
	}
	return nil
}

// Close says that the process is [Gone], and removes the file. After that another may be published.
func (p *Publisher) Close() error {
	if p == nil {
		return nil
	}
	if err := p.close(); err != nil {
		return fmt.Errorf("hazard: %w", err)
	}
	return nil
}
