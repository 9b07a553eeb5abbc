// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes what the results are of.
func machine() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, f := range [][2]string{
		{"Processor", fmt.Sprintf("%s, %d CPUs", cpuinfo("model name"), runtime.NumCPU())},
		{"Kernel", runtime.GOOS + "/" + runtime.GOARCH + " " + read("/proc/sys/kernel/osrelease")},
		{"Virtualised", virtualised()},
		{"PMU", pmu()},
		{"perf_event_paranoid, max_sample_rate", read("/proc/sys/kernel/perf_event_paranoid") + ", " + read("/proc/sys/kernel/perf_event_max_sample_rate")},
		{"perf", perfVersion()},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", f[0], f[1])
	}
	return b.String()
}

func read(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(data))
}

func cpuinfo(field string) string {
	for _, line := range strings.Split(read("/proc/cpuinfo"), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == field {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// virtualised goes by the flag that hypervisors set.
func virtualised() string {
	if strings.Contains(" "+cpuinfo("flags")+" ", " hypervisor ") {
		return "yes"
	}
	if cpuinfo("flags") == "unknown" {
		return "unknown"
	}
	return "no"
}

// pmu says whether the processor counts cycles for us.
func pmu() string {
	if err := countsCycles(); err != nil {
		return fmt.Sprintf("none (cycles: %v): task-clock here, cycles on the emulated machine", err)
	}
	return "cycles"
}

func loadavg() string {
	f := strings.Fields(read("/proc/loadavg"))
	return f[0]
}
