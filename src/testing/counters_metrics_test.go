// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testing

import (
	"errors"
	"internal/runtime/perf"
	"maps"
	"strings"
)

// counts are values, times enabled and times running, by event.
type counts [][3]uint64

// metricsTests are the cases of TestCounterMetrics.
var metricsTests = []struct {
	name string
	end  counts // after all is 1, 0, 0 before
	err  error
	want map[string]float64
	fail string
}{
	{
		name: "exact",
		end:  counts{{401, 50, 50}, {801, 50, 50}, {1001, 50, 50}, {1, 50, 50}},
		want: map[string]float64{
			"cycles/op": 4, "instructions/op": 8, "insn/cycle": 2, "task-clock-ns/op": 10, "instructions:k/op": 0,
		},
	},
	{
		name: "scaled",
		end:  counts{{401, 40, 10}, {401, 40, 20}, {1001, 50, 50}, {301, 40, 40}},
		want: map[string]float64{
			"cycles/op": 16, "cycles-%run": 25, "instructions/op": 8, "instructions-%run": 50, "insn/cycle": 0.5,
			"task-clock-ns/op": 10, "instructions:k/op": 3,
		},
	},
	{
		name: "never",
		end:  counts{{401, 40, 40}, {1, 40, 0}, {1001, 50, 50}, {301, 40, 40}},
		fail: "event instructions was not counted at all",
	},
	{
		name: "missing",
		end:  counts{{401, 40, 40}, {801, 40, 40}, {1001, 50, 50}, {301, 40, 40}},
		err:  errors.New("2 threads are not in the counts"),
		fail: "2 threads are not in the counts",
	},
}

// What is reported of counts as they would come from a machine with more
// events than counters.
func TestCounterMetrics(t *T) {
	names := []string{"cycles", "instructions", "task-clock", "instructions:k"}
	units := []string{"count", "count", "nanoseconds", "count"}
	for _, tt := range metricsTests {
		t.Run(tt.name, func(t *T) {
			saved := benchCounters
			defer func() { benchCounters = saved }()
			now := counts{{1}, {1}, {1}, {1}}
			benchCounters.metrics, benchCounters.ipc = counterMetrics(names, units)
			benchCounters.read = func(dst []perf.Count) error {
				for i, c := range now {
					dst[i] = perf.Count{Value: c[0], Enabled: c[1], Running: c[2]}
				}
				return tt.err
			}
			var out strings.Builder
			b := &B{common: common{name: "x", w: &out, bench: true}, N: 100}
			b.setOutputWriter()
			b.ResetTimer()
			b.StartTimer()
			now = tt.end
			b.StopTimer()
			// Does not count while the timer is stopped.
			now = counts{{9999, 9999, 0}, {9999, 9999, 0}, {9999, 9999, 0}, {9999, 9999, 0}}
			b.reportCounters()
			if tt.fail != "" {
				if log := string(b.output); !b.Failed() || !strings.Contains(log, tt.fail) {
					t.Errorf("failed: %v, want failure %q in %q", b.Failed(), tt.fail, log)
				}
				return
			}
			if b.Failed() || !maps.Equal(b.extra, tt.want) {
				t.Errorf("failed: %v, metrics %v, want %v", b.Failed(), b.extra, tt.want)
			}
		})
	}
}
