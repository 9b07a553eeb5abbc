#!/usr/bin/env bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# Builds the toolchain in goroot/ from the pinned upstream release and the
# overlay in this repository. Needs git and any Go >= 1.21.
# With -force it discards what was edited in goroot. See misc/pmu/overlay/overlay.bash.

set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"

fail() { echo "make.bash: $*" >&2; exit 1; }

command -v go >/dev/null || fail "no go command in PATH: install any Go >= 1.21 (go.dev/dl)"
command -v git >/dev/null || fail "no git command in PATH: install git"

# The host's go builds the builder, whatever the caller's settings are for.
host_go() {
	env -u GOROOT -u GOOS -u GOARCH -u GOEXPERIMENT \
		GOTOOLCHAIN=local GOWORK=off GOFLAGS= GO111MODULE=on go "$@"
}

version=$(host_go env GOVERSION)
case $version in
go1.[0-9] | go1.[0-9].* | go1.1[0-9] | go1.1[0-9].* | go1.20 | go1.20.*)
	fail "the go command in PATH is $version: install any Go >= 1.21 (go.dev/dl)" ;;
esac

misc/pmu/overlay/overlay.bash build "$@"
