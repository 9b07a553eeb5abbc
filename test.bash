#!/bin/bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# test.bash builds the toolchain and runs all tests. Each leg is a separate command
# and fails by itself; each sampling engine is a leg, so a broken engine can't hide
# behind a working one. It needs git and a go command. What else it needs it installs:
# a C compiler for cgo, the emulated machine, clang for the memory sanitizer, QEMU's
# user-mode emulation, and PostgreSQL. See the legs c-compiler, vm-setup, msan, ports and
# cmd/pmu.
#
#	./test.bash           all legs except foreign and sql
#	./test.bash NAME...   the legs whose names contain one of the NAMEs
#
# The leg foreign tests the fork with other people's packages. The go command downloads them
# through the module proxy. As no other leg needs the proxy, foreign runs only by name. So does
# sql, which runs the SQL of go tool pmu why on three databases: npm downloads 620 MB for it.
#
# A leg whose prerequisites are missing fails; none is skipped. The last line
# is the count of legs.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
root=$PWD
export GOWORK=off GOFLAGS= GOTOOLCHAIN=local
PATH=${PATH//"$root/goroot/bin:"/} # the fork may be there; the tools need the Go that builds it
hostgo=$(command -v go) || { echo "test.bash: no go command in PATH; install Go 1.21 or later" >&2; exit 1; }
export PATH=$root/misc/pmu/vm:$PATH
go=$root/goroot/bin/go
std=(runtime/pprof runtime/task internal/taskrecord testing net/http/pprof internal/perfevent internal/runtime/perf)

# Upstream's tests that take CPU profiles.
profiling='CPUProfile|GoroutineSwitch|MathBigDivide|Morestack|LabelRace|LabelSystemstack|AtomicLoadStore64|TracebackAll|TryAdd|TimeVDSO|BlockMutexProfileInlineExpansion'

# The go command's scripts about test flags and profiles, including ours. The other
# scripts of go test rebuild the standard library for nine minutes and touch nothing
# of ours.
scripts='(help|test_(bench|compile|counters|cpuprofile|deadline|exit|fail_fast|flag|fuzz_run|json_|profile|shuffle|skip|timeout|write_profiles)|cover_(list|runs))'

wanted=("$@")
tmp=$(mktemp -d) || exit 1
: >"$tmp/results" # of the legs, in the lane too: pass NAME or FAIL NAME
leg() { # leg NAME COMMAND...
	local name=$1 result=FAIL time="$tmp/${1//\//-}" TIMEFORMAT='%0R s, CPU %0U + %0S s'
	shift
	if [ ${#wanted[@]} -gt 0 ]; then
		local w match=
		for w in "${wanted[@]}"; do [[ $name == *"$w"* ]] && match=1; done
		[ "$match" ] || return 0
	fi
	echo "=== $name"
	{ time "$@" 2>&3 3>&-; } 3>&2 2>"$time" && result=pass
	echo "$result $name" >>"$tmp/results"
	echo "--- $result: $name ($(<"$time"))"
}

# A leg that runs only by name.
named_leg() { # named_leg NAME COMMAND...
	[ ${#wanted[@]} -eq 0 ] || leg "$@"
}

# The lane is legs that run in the background, beside the others. Their output is
# kept until the others have to wait for them.
lane=
start_lane() { # start_lane FUNCTION
	set -m # a process group of its own
	"$1" >"$tmp/lane" 2>&1 </dev/null &
	lane=$!
	set +m
}
wait_for_lane() {
	[ "$lane" ] || return 0
	wait "$lane"
	lane=
	cat "$tmp/lane"
}
# On an early end, print what the lane has done so far.
trap '[ "$lane" ] && kill -- -"$lane" && wait_for_lane; rm -rf "$tmp"' EXIT

own() { git -C "$root" ls-files -co --exclude-standard "$@"; }

gofmt_leg() {
	local bad
	bad=$("$root/goroot/bin/gofmt" -l $(own '*.go' | grep -v /testdata/))
	[ -z "$bad" ] || { echo "not formatted:" $bad; return 1; }
}

# hooked runs a command with one of upstream's files replaced, where SED makes it call what is built with
# the tag pmutest: src/runtime/pprof/perf_engine.go or src/net/http/task_hook.go. The go command builds
# go tool pprof with the replaced file and without the tag. So where a test runs that, FILE must not be a
# part of it.
hooked() { # hooked FILE SED COMMAND...
	local dir=$root/.cache/hooks src=$root/goroot/src/$1 file=${1//\//-}
	mkdir -p "$dir" && echo '*' >"$dir/.gitignore" && sed "$2" "$src" >"$dir/$file" || return
	! cmp -s "$src" "$dir/$file" || { echo "$1 has no place for the call any more"; return 1; }
	printf '{"Replace": {"%s": "%s"}}\n' "$src" "$dir/$file" >"$dir/$file.json" &&
		GOFLAGS="-tags=pmutest '-overlay=$dir/$file.json'" "${@:3}"
}
# Upstream's tests of profiles, and the programs that they build, with an event in
# place of the timer.
with_engine() {
	PMU_TEST_EVENT=$1 PMU_TEST_PERIOD=1000000 hooked runtime/pprof/pprof.go '/^func StartCPUProfile(/a\	return startTestEngine(w)' "${@:2}"
}
engine_host() { with_engine task-clock "$go" test -count=1 -run "$profiling" runtime/pprof; }
# What amd64 does where the kernel's stacks are not to be had, and what arm64 can do.
signals_host() {
	local -x GO_PPROF_STACKS=signal
	"$go" test -count=1 -short -run "$exact" runtime/pprof &&
		with_engine task-clock "$go" test -count=1 -short -run "$profiling" runtime/pprof
}
chains_vm() { GO_PPROF_STACKS=kernel emulated -run '^TestEmulated$' -skip '^TestEmulated$/Counters' runtime/pprof; }
engine_cgo() {
	with_engine task-clock "$go" test -count=1 \
		-run 'TestCgo.*Pprof|TestCgoPerf|TestCgo.*SIGPROF|TestRaceProf|TestRaceSignal|TestTimePprof' runtime
}
on_vm() { GOARCH=arm64 CGO_ENABLED=0 PMUVM_TIMEOUT=3600 "$@"; }
engine_vm() {
	PMUVM_ICOUNT=shift=3,sleep=off with_engine cycles \
		on_vm "$go" test -count=1 -short -timeout 60m -run "$profiling" runtime/pprof
}
# Tests on the emulated machine, where they must not skip hardware events. In runtime/pprof
# they register themselves for it; of the other packages all of ours run there.
emulated() { PMU_TEST_REQUIRE=cycles,instructions,root on_vm "$go" test -count=1 -short -timeout 60m "$@"; }
exact_vm() {
	emulated -run '^TestPerf' -skip '^TestPerfTaskRingDamaged$' runtime && # skipped: 4 minutes about memory alone
		emulated -run '^TestEmulated$' -skip '^TestEmulated$/Counters' runtime/pprof &&
		PMU_TEST_REQUIRE=root,quiet PMU_TEST_LIVE=1 on_vm "$go" test -count=1 \
			-run '^TestLive$/^(lock|page-faults|CPU-hog|slow-downstream|none)$' cmd/pmu/internal/why &&
		emulated -run '^TestEmulated$' cmd/pmu/internal/ratiocmd &&
		emulated -run '^TestPlanted$' cmd/pmu/internal/slowcmd
}
# On a fresh machine: what other tests leave behind would count.
counters_vm() {
	emulated -run '^TestEmulated$/Counters' runtime/pprof &&
		emulated -run '^TestCounter' testing && countbench
}
# exact/host runs these at length, so upstream/std leaves them out.
exact='^Test(Perf|Counters|Events|Probe)'
upstream_std() {
	local ok=0
	"$go" test -short -timeout 30m -skip "$exact" runtime/pprof || ok=1
	"$go" test -short -timeout 30m "${std[@]:1}" || ok=1
	return $ok
}
# Upstream's tests of servers, with every handler in TaskHandler and all tasks recorded.
upstream_http() {
	hooked net/http/server.go 's/^\thandler\.ServeHTTP(rw, req)$/\ttestHandler(handler).ServeHTTP(rw, req)/' \
		"$go" test -count=1 -short -timeout 20m net/http net/http/httputil
}
exact_host() {
	# CI is root on a machine with breakpoints; elsewhere tests say why they skip. So they
	# do on virtual machines that accept breakpoints and never stop at one.
	if [ "${CI:-}" ]; then
		local -x PMU_TEST_REQUIRE=root
		"$go" test -count=1 -v -run '^TestPerfCalls$' runtime/pprof | grep -F 'does not stop at them' || PMU_TEST_REQUIRE=breakpoints,root
		[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing
	fi
	"$go" test -count=1 cmd/pmu/internal/linescmd &&
		"$go" test -count=1 -timeout 30m -run "$exact" runtime/pprof && "$go" test -count=1 -run '^TestTask(Truth|Isolation)$' net/http/pprof && "$go" test -count=1 -run '^Test(Epochs|OtherCounters|TurnsAgain|CountersClosed)$' runtime/task
}
countbench() {
	local -x GOARCH=arm64 CGO_ENABLED=0 PMU_TEST_REQUIRE=cycles,instructions
	env -C test/pmu "$go" test -count=1 ./countbench && env -C misc/pmu "$go" test -count=1 ./bench/handlercost
}

# go tool pmu, and the analysis of requests at length.
cmd_pmu() {
	local ok=0
	local -x PMU_TEST_REQUIRE=postgres${CI:+,root}
	need_postgres || ok=1
	"$go" test -count=1 -timeout 30m cmd/pmu/... || ok=1
	return $ok
}

# The SQL of why on each engine that it is for, with a million requests of each kind. npm has
# two of the engines as libraries. PMU_TEST_SQL is another number of requests, for a quick look.
sql_leg() {
	local -x PMU_TEST_REQUIRE=postgres,duckdb,clickhouse PMU_TEST_SQL=${PMU_TEST_SQL:-1000000} PMU_TEST_NODE=${PMU_TEST_NODE:-$root/.cache/sql}
	need_postgres && need npm nodejs npm || return
	mkdir -p "$PMU_TEST_NODE" && echo '*' >"$PMU_TEST_NODE/.gitignore" || return
	npm install --prefix "$PMU_TEST_NODE" --ignore-scripts --no-audit --no-fund --loglevel=error chdb@3.4.0 @duckdb/node-api@1.5.6-r.1 || return
	"$go" test -count=1 -v -timeout 2h -run '^TestEngines' cmd/pmu/internal/whycmd
}

# A client may be there without a server.
need_postgres() {
	{ command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'; } >/dev/null && command -v psql >/dev/null || apt_install postgresql
}

# need COMMAND PACKAGE... installs Debian's packages where the command is missing.
need() { command -v "$1" >/dev/null || apt_install "${@:2}"; }
apt_install() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "missing, to be installed: $*" >&2
		return 1
	fi
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Of why, the tests that reach each of its parallel loops.
race_leg() {
	local -x CGO_ENABLED=1
	local ok=0
	"$go" test -race -short -timeout 30m "${std[@]}" || ok=1
	"$go" test -race -short -run '^Test(Procs|Stopped|Needed|Segments|HTML.*)$' cmd/pmu/internal/why || ok=1
	return $ok
}

# Only clang has the memory sanitizer, and Debian packages it by clang's version.
msan_links() { echo 'int main(void) { return 0; }' | clang -fsanitize=memory -x c -o /dev/null - 2>/dev/null; }
msan() {
	need clang clang || return
	msan_links || apt_install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" || return
	# A fault in a handler ends the program without a word, so only -v says where.
	CC=clang CGO_ENABLED=1 "$go" test -msan -v -short -count=1 -timeout 30m -run 'TestPerf|TestCounters' runtime/pprof >"$tmp/msan.v" &&
		tail -n 1 "$tmp/msan.v" || { tail -n 200 "$tmp/msan.v"; return 1; }
}

# The runtime checks the order in which its locks are taken, ours among them.
lockrank_leg() {
	local -x GOEXPERIMENT=staticlockranking
	"$go" test -count=1 -short runtime/task &&
		"$go" test -count=1 -short -run '^Test(Perf(StartStopRace|Errors|Exec|ExecFails)|Counters(Churn|WithProfile|Closed|GoroutineChurn|Interval))$' runtime/pprof
}

# For readers of a failure on another machine.
echo "=== machine"
misc/pmu/machine.bash

leg make ./make.bash
leg c-compiler need "${CC:-gcc}" gcc libc6-dev
leg vm-setup env GO="$go" misc/pmu/vm/setup.bash # the other legs need what it compiles

# The emulated machine keeps one CPU busy, and its counts do not depend on its speed.
# So it runs beside the legs that compile and those whose tests do not depend on time.
# The other legs have the machine to themselves.
vm_legs() {
	leg engine/vm-cycles engine_vm
	leg exact/vm exact_vm
	leg exact/vm-counters counters_vm
	leg engine/vm-kernel-stacks chains_vm
}
start_lane vm_legs
leg gofmt gofmt_leg
vet_leg() {
	"$go" vet cmd/pmu/... runtime runtime/pprof/... runtime/task internal/taskrecord testing net/http net/http/pprof internal/perfevent internal/runtime/perf cmd/go/internal/test &&
		env -C misc/pmu "$go" vet ./... && env -C test/pmu "$go" vet ./...
}
leg vet vet_leg
tools_leg() {
	local ok=0 dir
	for dir in misc/pmu test/pmu; do env -C $dir "$hostgo" test -count=1 -timeout 20m ./... || ok=1; done
	return $ok
}
ports_leg() { need qemu-ppc64 qemu-user && env -C test/pmu "$go" run ./ports; }
leg ports ports_leg
leg tools tools_leg
leg api env -C test/pmu "$go" run ./apicheck
leg upstream/deps "$go" test -run 'TestDependencies' go/build
leg upstream/cmd-go "$go" test -timeout 20m -run "TestScript/$scripts|TestDocsUpToDate|TestPassFlag|TestVetFlag|TestFlag" cmd/go cmd/go/internal/test
wait_for_lane
leg cmd/pmu cmd_pmu
leg upstream/std upstream_std
leg upstream/http upstream_http
leg upstream/runtime "$go" test -short -timeout 20m runtime
leg race race_leg
leg msan msan
leg lockrank lockrank_leg
leg engine/host-task-clock engine_host
leg engine/host-cgo engine_cgo
leg engine/host-signals signals_host
leg exact/host exact_host
leg unharmed env -C test/pmu ${CI:+PMU_TEST_REQUIRE=root} "$go" test -count=1 -timeout 20m ./life ./soak
leg demo ./demo.bash
foreign_leg() { env -C test/pmu/foreign "$go" vet ./... && env -C test/pmu/foreign "$go" test -count=1 -v -timeout 20m ./...; }
named_leg foreign foreign_leg
named_leg sql sql_leg

failed=$(sed -n 's/^FAIL //p' "$tmp/results")
[ -z "$failed" ] || echo "failed:" $failed
echo "$(grep -c ^pass "$tmp/results") passed, $(grep -c ^FAIL "$tmp/results") failed"
[ -z "$failed" ]
