// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"io/fs"
	"runtime"
	"strconv"
	"strings"
)

// A fact is something about the machine or the container that decides which
// events can be sampled.
type fact struct{ name, value string }

// Capabilities that lift kernel.perf_event_paranoid, by their bits
// (capabilities(7)).
const (
	capSysAdmin = 21
	capPerfmon  = 38
)

// sysctls decide what may be sampled, and how much of it (sysctl/kernel.rst in
// the kernel's documentation).
var sysctls = []string{"perf_event_paranoid", "perf_event_mlock_kb", "perf_event_max_sample_rate", "kptr_restrict", "nmi_watchdog"}

// machineFacts reads facts from the file system root. What can't be read is
// left out.
func machineFacts(root fs.FS) []fact {
	facts := []fact{{"system", runtime.GOOS + "/" + runtime.GOARCH + ", " + strconv.Itoa(runtime.NumCPU()) + " CPUs"}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	add("kernel", read(root, "proc/sys/kernel/osrelease"))
	add("processor", processor(read(root, "proc/cpuinfo")))
	add("hypervisor", read(root, "sys/hypervisor/type"))
	add("machine", strings.TrimSpace(read(root, "sys/class/dmi/id/sys_vendor")+" "+read(root, "sys/class/dmi/id/product_name")))
	add("container", container(root))
	for _, name := range sysctls {
		add("kernel."+name, read(root, "proc/sys/kernel/"+name))
	}
	status := read(root, "proc/self/status")
	add("capabilities", capabilities(field(status, "CapEff")))
	if s := field(status, "Seccomp"); s != "" {
		add("seccomp", map[string]string{"0": "off", "1": "strict", "2": "filter"}[s])
	}
	add("PMUs", pmus(root))
	return facts
}

// runFacts reads facts from the file system root that decide how tests fare
// on the machine.
func runFacts(root fs.FS) []fact {
	var facts []fact
	add := func(name, value string) {
		if value == "" {
			value = "unknown"
		}
		facts = append(facts, fact{name, value})
	}
	add("built by", runtime.Version())
	status := read(root, "proc/self/status")
	if ids := strings.Fields(field(status, "Uid")); len(ids) > 1 {
		add("user ID", ids[1]) // the effective one
	}
	add("CPUs allowed", field(status, "Cpus_allowed_list"))
	add("load", read(root, "proc/loadavg"))
	meminfo := read(root, "proc/meminfo")
	add("memory", field(meminfo, "MemTotal")+", available "+field(meminfo, "MemAvailable"))
	add("clock source", read(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
	add("kernel.perf_cpu_time_max_percent", read(root, "proc/sys/kernel/perf_cpu_time_max_percent"))
	mounts := read(root, "proc/self/mounts")
	for _, fstype := range []string{"tracefs", "debugfs"} {
		add(fstype, mounted(mounts, fstype))
	}
	limits := read(root, "proc/self/limits")
	for _, name := range []string{"Max open files", "Max locked memory", "Max pending signals"} {
		add(strings.ToLower(name), limit(limits, name))
	}
	return facts
}

// mounted returns where a file system of the type is mounted.
func mounted(mounts, fstype string) string {
	for _, line := range strings.Split(mounts, "\n") {
		if f := strings.Fields(line); len(f) > 2 && f[2] == fstype {
			return f[1]
		}
	}
	return "not mounted"
}

// limit returns the soft and the hard limit of the name.
func limit(limits, name string) string {
	for _, line := range strings.Split(limits, "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if f := strings.Fields(rest); len(f) >= 2 {
				return f[0] + ", at most " + f[1]
			}
		}
	}
	return ""
}

func read(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// field returns the value of a line "name: value".
func field(text, name string) string {
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// processor returns the first processor's name, and whether it is a guest of
// a hypervisor, according to x86's flag.
func processor(cpuinfo string) string {
	name := field(cpuinfo, "model name")
	for _, flag := range strings.Fields(field(cpuinfo, "flags")) {
		if flag == "hypervisor" {
			name += " (virtual)"
		}
	}
	return name
}

// container returns what made the container that this process is in, "" if
// there is no sign of one.
func container(root fs.FS) string {
	for _, c := range []struct{ file, name string }{
		{".dockerenv", "Docker"},
		{"run/.containerenv", "Podman"},
		{"var/run/secrets/kubernetes.io", "Kubernetes"},
	} {
		if _, err := fs.Stat(root, c.file); err == nil {
			return c.name
		}
	}
	return ""
}

// capabilities returns which of the capabilities that matter are in a hexadecimal set.
func capabilities(set string) string {
	bits, err := strconv.ParseUint(set, 16, 64)
	if err != nil {
		return ""
	}
	var has []string
	for _, c := range []struct {
		bit  uint
		name string
	}{{capPerfmon, "CAP_PERFMON"}, {capSysAdmin, "CAP_SYS_ADMIN"}} {
		if bits>>c.bit&1 != 0 {
			has = append(has, c.name)
		}
	}
	if len(has) == 0 {
		return "neither CAP_PERFMON nor CAP_SYS_ADMIN"
	}
	return strings.Join(has, ", ")
}

func pmus(root fs.FS) string {
	dirs, err := fs.ReadDir(root, "sys/bus/event_source/devices")
	if err != nil {
		return ""
	}
	var names []string
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	return strings.Join(names, " ")
}
