// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// lock locks a file, which is made if there is none, until it is closed or the program ends, in
// whichever way.
func lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if err == syscall.EWOULDBLOCK {
			err = fmt.Errorf("another program keeps records in %s: end it, or name another folder", filepath.Dir(name))
		}
		return nil, err
	}
	return f, nil
}
