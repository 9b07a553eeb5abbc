// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// A pageFile is the file of a page, for reading. It never looks into the page where it is mapped: that
// would end the program if somebody cuts the file.
type pageFile struct {
	name string
	f    *os.File
	page [pageSize]byte // as read last
	word [4]byte        // of changes
}

// openPage opens a file of this user's alone.
func (p *pageFile) openPage(file string) (err error) {
	p.name = file
	p.f, err = os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := own(p.f); err != nil {
		p.f.Close()
		return fmt.Errorf("%s %w", file, err)
	}
	return nil
}

// identity reads who has published.
func (p *pageFile) identity() (id identity, err error) {
	if err := p.readAt(p.page[:], 0); err != nil {
		return id, err
	}
	if id, err = parseIdentity(p.page[:]); err != nil {
		return id, fmt.Errorf("%s %w", p.name, err)
	}
	return id, nil
}

func (p *pageFile) readAt(b []byte, at int64) error {
	_, err := p.f.ReadAt(b, at)
	if err == io.EOF {
		return fmt.Errorf("%s is cut: it has less than %d bytes", p.name, pageSize)
	}
	return err
}

// read reads the page, as it was after the last change at some moment during this call.
func (p *pageFile) read() (changes uint32, err error) {
	for try := range 2000 {
		if try%100 == 99 { // a program that sets its state in a loop has the pace of this one
			pause(50 * time.Microsecond)
		}
		// Each ReadAt takes and gives up a lock of the file, and calls the kernel. So what it
		// reads is not from before what the one before has read.
		if err := p.readAt(p.word[:], offChanges); err != nil {
			return 0, err
		}
		before := p.word
		if err := p.readAt(p.page[:], 0); err != nil {
			return 0, err
		}
		if err := p.readAt(p.word[:], offChanges); err != nil {
			return 0, err
		}
		if p.word == before {
			return binary.LittleEndian.Uint32(before[:]), nil
		}
	}
	return 0, fmt.Errorf("%s %w", p.name, errBusy)
}

var errBusy = errors.New("changes too fast to be read: have the program set its state less often, and see that nothing else writes into it")

// pause is a sleep that also passes in a bubble of testing/synctest.
func pause(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&ts, nil)
}

// status reads what the page says.
func (p *pageFile) status() (s rawStatus, err error) {
	n, err := p.read()
	if err != nil {
		return s, err
	}
	if s, err = parseStatus(p.page[:], n); err != nil {
		return s, fmt.Errorf("%s %w", p.name, err)
	}
	return s, nil
}

// changes reads the changes after one.
func (p *pageFile) changes(after uint64) (list []Change, missed uint64, err error) {
	n, err := p.read()
	if err != nil {
		return nil, 0, err
	}
	raw, missed, err := parseChanges(p.page[:], n, after)
	if err != nil {
		return nil, 0, fmt.Errorf("%s %w", p.name, err)
	}
	c := now()
	for i := range raw {
		list = append(list, raw[i].change(c))
	}
	return list, missed, nil
}

func now() clock { return clock{time.Now(), runtime_nanotime()} }

// own returns an error if f is not a file of this user's alone.
func own(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("is no regular file (%v)", info.Mode())
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("has mode %#o, want 0600: others might have written it", info.Mode().Perm())
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != os.Geteuid() && os.Geteuid() != 0 {
		return fmt.Errorf("belongs to user %d, not to this process's, %d", uid, os.Geteuid())
	}
	return nil
}
