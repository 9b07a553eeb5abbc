// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testing_test

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// emulatedTests are the tests that the emulated machine runs; see emulated.
var emulatedTests []func(*testing.T)

// emulated registers a test for the emulated machine (misc/pmu/vm), whose events of the
// processor are exact: for a test that needs them, or behaves differently with them. It
// must not skip there. A test calls it in a declaration of its own:
//
//	var _ = emulated(TestX)
func emulated(test func(*testing.T)) bool {
	emulatedTests = append(emulatedTests, test)
	return true
}

// TestEmulated runs the registered tests where PMU_TEST_REQUIRE says that there are
// events of the processor.
func TestEmulated(t *testing.T) {
	if !strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "cycles") {
		t.Skip("for the emulated machine; see test.bash")
	}
	if len(emulatedTests) == 0 {
		t.Fatal("no tests are registered")
	}
	for _, test := range emulatedTests {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		name = name[strings.LastIndexByte(name, '.')+1:]
		t.Run(name, func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					t.Error("skipped on the emulated machine")
				}
			}()
			test(t)
		})
	}
}
