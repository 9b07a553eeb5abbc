#!/usr/bin/env bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# Profiles two programs with known results, and prints the expected and the measured
# share of each of their functions: goroutine, ten equal goroutines, and serial, ten
# functions in the ratio 1:2:...:10 (misc/pmu/demo).
#
# Where this machine counts cycles, both are profiled by cycles. Otherwise they are
# profiled by the software clock here, and by cycles on an emulated arm64 machine
# (misc/pmu/vm).
#
# Builds what is missing. The exit status is 0 if every profile was within its bounds,
# and 1 if one was not or cycles were not available anywhere.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$PWD
out=$root/.cache/demo # programs and profiles; ignores itself in git
go=$root/goroot/bin/go
failed=0

say() { printf '\n%s\n' "$*"; }
die() {
	echo "demo.bash: $*" >&2
	exit 1
}

# build PROGRAM SUFFIX [VARIABLE=VALUE...] builds a program of misc/pmu.
build() {
	local program=$1 suffix=$2
	shift 2
	(cd misc/pmu && env GOTOOLCHAIN=local GOWORK=off GOFLAGS= "$@" "$go" build -o "$out/$program$suffix" "./demo/$program") ||
		die "building $program failed"
}

look() { echo "To look further: ${go#"$root"/} tool pprof -top ${1#"$root"/}"; }

# host PROGRAM EVENT PERIOD SCALE TOLERANCE SAMPLES profiles a program here, with
# SCALE times its work. The work of each function is known. Its time is in proportion
# only while the machine's speed stays the same, and a virtual machine's may not. So
# functions take many turns, and a profile is taken up to three times. A profiler that
# is wrong is wrong each time.
host() {
	local program=$1 event=$2 period=$3 scale=$4 profile=$out/$1-host-$2.pprof try
	for try in 1 2 3; do
		say "$program here, by $event, one sample in $period:"
		if ! "$out/$program" -event "$event" -period "$period" -scale "$scale" -o "$profile"; then
			break
		fi
		if "$out/report" -program "$program" -tolerance "$5" -samples "$6" "$profile"; then
			look "$profile"
			return
		fi
	done
	failed=1
	look "$profile"
}

# guest PROGRAM EVENT PERIOD TOLERANCE SAMPLES does so on the emulated machine.
guest() {
	local program=$1 event=$2 period=$3 profile=$out/guest/$1-arm64-$2.pprof
	say "$program on the emulated arm64 machine, by $event, one sample in $period:"
	rm -f "$profile"
	if ! (cd "$out/guest" && PMUVM_OUT=$out/guest "$root/misc/pmu/vm/go_linux_arm64_exec" \
		"$out/$program.arm64" -event "$event" -period "$period" -o "$profile"); then
		failed=1
		return
	fi
	"$out/report" -program "$program" -tolerance "$4" -samples "$5" "$profile" || failed=1
	look "$profile"
}

# probe takes a short profile by cycles. Its error, if any, says why this machine has
# no PMU for us.
probe() {
	local profile=$out/probe.pprof
	"$out/goroutine" -event cycles -period 1000000 -scale 0.02 -o "$profile" &&
		"$out/report" -program goroutine -tolerance 100 -samples 10 "$profile" >/dev/null
}

./make.bash || die "./make.bash failed"
mkdir -p "$out/guest"
echo '*' >"$out/.gitignore"
for program in goroutine serial report; do
	build "$program" ""
done

# The bounds, in percentage points, and the least number of samples: the work
# of either program is billions of cycles and seconds of a CPU's time.
if why=$(probe 2>&1); then
	say "This machine has a PMU: both programs are profiled by its cycles."
	host goroutine cycles 1000000 1 0.5 2000
	host serial cycles 1000000 1 0.5 2000
else
	say "This machine has no PMU for us (${why%%$'\n'*}): task-clock here, and cycles on an emulated arm64 machine."
	host goroutine task-clock 1000000 4 0.5 3000
	host serial task-clock 1000000 2 1 1500
	if why=$(GO=$go misc/pmu/vm/setup.bash 2>&1); then
		for program in goroutine serial; do
			build "$program" .arm64 GOOS=linux GOARCH=arm64 CGO_ENABLED=0
		done
		# Each goroutine has some 180 turns, which begin and end anywhere between
		# two samples: half a sample each is 6.7 of 18,000 in all, 0.037 points.
		# This is five times that. (0.05 to 0.11 were seen.)
		guest goroutine cycles 1000000 0.19 5500
		guest serial cycles 1000000 0.15 5500
	else
		say "No cycles: the emulated machine could not be made ready. ${why##*$'\n'}"
		failed=1
	fi
fi

if [ $failed = 0 ]; then
	say "All within bounds."
else
	say "NOT all within bounds: see above."
fi
exit $failed
