#!/usr/bin/env bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# Describes the machine for readers of its test results and benchmarks elsewhere:
# what decides which events can be sampled, and what slows tests down.

export LC_ALL=C
uname -srm
command -v lscpu >/dev/null && lscpu | grep -E '^(CPU\(s\)|Model name|Hypervisor vendor|Virtualization type):'
cat /sys/class/dmi/id/{sys_vendor,product_name} 2>/dev/null | paste -sd' ' - | grep .
for f in /.dockerenv /run/.containerenv /var/run/secrets/kubernetes.io; do [ -e $f ] && echo "container: $f"; done
echo "PMUs: $(ls /sys/bus/event_source/devices | paste -sd' ' -)"
for name in perf_event_paranoid perf_event_mlock_kb perf_event_max_sample_rate perf_cpu_time_max_percent kptr_restrict nmi_watchdog; do
	[ -e /proc/sys/kernel/$name ] && echo "kernel.$name: $(</proc/sys/kernel/$name)"
done
grep -E '^(Uid|CapEff|Seccomp|Cpus_allowed_list):' /proc/self/status
grep -E '^(MemTotal|MemAvailable):' /proc/meminfo
grep -E '^Max (open files|locked memory|pending signals) ' /proc/self/limits
echo "load: $(</proc/loadavg)"
echo "clock source: $(</sys/devices/system/clocksource/clocksource0/current_clocksource)"
grep -E ' (tracefs|debugfs) ' /proc/self/mounts
true
