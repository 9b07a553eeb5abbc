// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"internal/testenv"
	"testing"
)

// child runs the test binary with a variable in its environment.
func child(t *testing.T, env string, args ...string) ([]byte, error) {
	testenv.MustHaveExec(t)
	cmd := testenv.Command(t, testenv.Executable(t), args...)
	cmd.Env = append(cmd.Environ(), env)
	return cmd.CombinedOutput()
}
