// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"os"
	"strings"
)

// bootID returns the ID that Linux has given to this start of the machine, or the empty string.
// Containers on one machine have the same.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return cut(strings.ToValidUTF8(strings.TrimSpace(string(b)), ""), maxKind)
}
