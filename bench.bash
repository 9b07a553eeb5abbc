#!/usr/bin/env bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# Measures what profiling by events costs and what it is worth, beside the
# stock Go release, its timer, and perf record where that is installed, on this
# machine; and in instructions on the emulated one. See misc/pmu/bench.
#
#	./bench.bash [-long] [-only sections] [-seconds n -rates hz,... -loads names] [-o dir]
#
# The short form is meant for ten minutes on two idle cores, once what it needs is
# built, and leaves out the section pgo. Section long, whose runs take 10 s each and
# hours together, runs only if it is asked for; -seconds, -rates and -loads choose
# less of it. Results are in the directory, by default
# .cache/bench/results: results.md has the tables and the charts.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$PWD

[ -n "${PMU_GOROOT:-}" ] || ./make.bash
misc/pmu/vm/setup.bash >&2 || echo "bench.bash: no emulated machine; what needs one is marked in the results" >&2
mkdir -p .cache/bench
echo '*' >.cache/bench/.gitignore
(cd misc/pmu && env GOTOOLCHAIN=local GOWORK=off GOFLAGS= go build -o "$root/.cache/bench/bench" ./bench)
out=$root/.cache/bench/results
exec .cache/bench/bench -o "$out" "$@"
