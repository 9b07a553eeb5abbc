#!/bin/bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# setup.bash makes the emulated arm64 machine ready: QEMU from the system's
# packages, Debian's arm64 cloud kernel, and two small programs of ours, the
# guest's init and the host's runvm. It is idempotent and, when everything is
# there, done in well under two seconds.
#
#	PMUVM  the directory to fill (default .cache/vm in the repository)
#	GO     the go command that builds the two programs (default: go in PATH)
#
# Every part is made under a temporary name and renamed when whole, and the
# file $PMUVM/ready, which names the sources it was made from, comes last, so an
# unfinished setup never counts as done.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../../.." && pwd -P)
dir=${PMUVM:-$root/.cache/vm}
go=${GO:-go}
kernel_meta=linux-image-cloud-arm64
modules=(virtio_ring virtio virtio_mmio virtio_blk) # guestspec.Modules

die() {
	echo "setup.bash: $*" >&2
	exit 1
}

# sources prints a hash of all that the two programs are built from.
sources() {
	(cd "$here" && cat setup.bash ../go.mod guestspec/*.go guestinit/*.go runvm/*.go | sha256sum | cut -d' ' -f1)
}

# apt_error prints the first error of the last apt run.
apt_error() {
	sed -n 's/^[EW]: //p' "$dir/apt.log" | head -n 1
}

# install_qemu installs the emulator where it is missing.
install_qemu() {
	command -v qemu-system-aarch64 >/dev/null && return
	command -v apt-get >/dev/null ||
		die "qemu-system-aarch64 is missing and this system has no apt-get to install it: install QEMU's arm64 system emulator by hand"
	[ "$(id -u)" = 0 ] ||
		die "qemu-system-aarch64 is missing and installing it needs root: apt-get install qemu-system-arm"
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get update -qq -o APT::Update::Error-Mode=any && apt-get install -y -qq --no-install-recommends qemu-system-arm; } >"$dir/apt.log" 2>&1 ||
		die "apt-get install qemu-system-arm failed: $(apt_error)"
}

# fetch_kernel unpacks the kernel and its disk drivers. It uses a separate apt state,
# for arm64, and needs no root.
fetch_kernel() {
	[ -s "$dir/vmlinuz" ] && return
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		die "Debian's arm64 kernel is fetched with apt-get and dpkg-deb, and this system has none"
	local src=/etc/apt/sources.list.d/debian.sources
	[ -e $src ] || src=/etc/apt/sources.list
	[ -e $src ] || die "apt has no sources: neither /etc/apt/sources.list.d/debian.sources nor /etc/apt/sources.list"

	local t=$dir/kernel.tmp
	rm -rf "$t"
	mkdir -p "$t"/{lists/partial,archives/partial,log,deb,modules}
	: >"$t/status"
	local opt=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64
		-o Dir::Etc::sourcelist=$src -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State="$t" -o Dir::State::lists="$t/lists" -o Dir::State::status="$t/status"
		-o Dir::Cache="$t" -o Dir::Cache::archives="$t/archives" -o Dir::Log="$t/log"
		-o Acquire::Languages=none -o APT::Update::Error-Mode=any -o APT::Sandbox::User=)
	apt-get "${opt[@]}" update >"$dir/apt.log" 2>&1 ||
		die "apt-get update for arm64 failed: $(apt_error)"
	local pkg
	pkg=$(apt-cache "${opt[@]}" show $kernel_meta 2>>"$dir/apt.log" |
		sed -n 's/^Depends: *\(linux-image-[^ ,]*\).*/\1/p' | head -n 1) || true
	[ -n "$pkg" ] || die "apt knows no $kernel_meta: the machine's package source is not Debian's"
	(cd "$t/deb" && apt-get "${opt[@]}" download "$pkg") >>"$dir/apt.log" 2>&1 ||
		die "cannot download $pkg: $(apt_error)"
	dpkg-deb -x "$t"/deb/*.deb "$t/x" || die "cannot unpack $pkg"
	local m
	for m in "${modules[@]}"; do
		find "$t/x" -name "$m.ko" -exec cp {} "$t/modules" \;
		[ -s "$t/modules/$m.ko" ] || die "$pkg has no module $m.ko"
	done
	rm -rf "$dir/modules"
	mv "$t/modules" "$dir/modules"
	mv "$t"/x/boot/vmlinuz-* "$dir/vmlinuz" # last: its presence means that all is here
	rm -rf "$t"
}

# build makes the guest's init and the host's runvm.
build() {
	command -v "$go" >/dev/null || die "no go command ($go): put one in PATH or set GO"
	export CGO_ENABLED=0 GOFLAGS= GOWORK=off GOTOOLCHAIN=local GOEXPERIMENT=
	cd "$here"
	GOOS=linux GOARCH=arm64 "$go" build -ldflags='-s -w' -o "$dir/init.tmp" ./guestinit ||
		die "building the guest's init failed"
	GOOS= GOARCH= "$go" build -o "$dir/runvm.tmp" ./runvm || die "building runvm failed"
	mv "$dir/init.tmp" "$dir/init"
	mv "$dir/runvm.tmp" "$dir/runvm"
}

[ "$(uname -s)" = Linux ] || die "the emulated machine needs a Linux host"
mkdir -p "$dir" 2>/dev/null || die "cannot make $dir: set PMUVM to a directory that can be written"
dir=$(cd "$dir" && pwd -P)
want=$(sources)
if [ "$(cat "$dir/ready" 2>/dev/null)" = "$want" ] && command -v qemu-system-aarch64 >/dev/null; then
	exit 0
fi

exec 9>"$dir/lock"
flock 9 # two setups at once take turns, and the second finds all done
[ "$(cat "$dir/ready" 2>/dev/null)" = "$want" ] || rm -f "$dir/ready"
echo '*' >"$dir/.gitignore"
install_qemu
fetch_kernel
build
echo "$want" >"$dir/ready.tmp"
mv "$dir/ready.tmp" "$dir/ready"
