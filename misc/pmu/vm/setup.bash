#!/bin/bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# setup.bash makes the emulated machine ready: QEMU from the system's packages,
# Debian's arm64 cloud kernel, and two small programs of ours, the guest's init and
# the host's runvm. It is idempotent and, when everything is there, done in well
# under two seconds.
#
#	misc/pmu/vm/setup.bash [arm64 | riscv64]
#
#	PMUVM  the directory to fill (default .cache/vm in the repository, .cache/vm-riscv64)
#	GO     the go command that builds the two programs (default: go in PATH)
#
# For riscv64 it fetches Debian 13's kernel, which has 110 MB, and a QEMU that counts
# by mode, and keeps that to itself: Debian 12 has it in backports.
#
# Every part is made under a temporary name and renamed when whole, and the
# file $PMUVM/ready, which names the sources it was made from, comes last, so an
# unfinished setup never counts as done.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../../.." && pwd -P)
arch=${1:-arm64}
go=${GO:-go}
case $arch in
arm64)
	dir=${PMUVM:-$root/.cache/vm}
	kernel_meta=linux-image-cloud-arm64
	modules=(virtio_ring virtio virtio_mmio virtio_blk) # guestspec.Modules
	;;
riscv64)
	dir=${PMUVM:-$root/.cache/vm-riscv64}
	kernel_meta=linux-image-riscv64
	modules=(virtio_mmio virtio_blk) # the others are in the kernel
	;;
*)
	echo "usage: setup.bash [arm64 | riscv64]" >&2
	exit 2
	;;
esac

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

# have_qemu reports whether there is an emulator.
have_qemu() {
	case $arch in
	arm64) command -v qemu-system-aarch64 >/dev/null ;;
	riscv64) [ -s "$dir/bios" ] ;;
	esac
}

# install_qemu installs the emulator where it is missing.
install_qemu() {
	have_qemu && return
	if [ $arch = riscv64 ]; then
		unpack_qemu
		return
	fi
	command -v apt-get >/dev/null ||
		die "qemu-system-aarch64 is missing and this system has no apt-get to install it: install QEMU's arm64 system emulator by hand"
	[ "$(id -u)" = 0 ] ||
		die "qemu-system-aarch64 is missing and installing it needs root: apt-get install qemu-system-arm"
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get update -qq -o APT::Update::Error-Mode=any && apt-get install -y -qq --no-install-recommends qemu-system-arm; } >"$dir/apt.log" 2>&1 ||
		die "apt-get install qemu-system-arm failed: $(apt_error)"
}

# apt_for ARCHITECTURE SOURCES makes a separate apt state in $t, which needs no root, and
# sets opt to the options for it. It brings the package lists up to date.
apt_for() {
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		die "Debian's packages are fetched with apt-get and dpkg-deb, and this system has none"
	rm -rf "$t"
	mkdir -p "$t"/{lists/partial,archives/partial,log,deb}
	: >"$t/status"
	opt=(-qq -o APT::Architecture="$1" -o APT::Architectures::="$1"
		-o Dir::Etc::sourcelist="$2" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State="$t" -o Dir::State::lists="$t/lists" -o Dir::State::status="$t/status"
		-o Dir::Cache="$t" -o Dir::Cache::archives="$t/archives" -o Dir::Log="$t/log"
		-o Acquire::Languages=none -o APT::Update::Error-Mode=any -o APT::Sandbox::User=)
	apt-get "${opt[@]}" update >"$dir/apt.log" 2>&1 ||
		die "apt-get update for $1 failed: $(apt_error)"
}

# download PACKAGE... downloads packages and unpacks them in $t/x.
download() {
	(cd "$t/deb" && apt-get "${opt[@]}" download "$@") >>"$dir/apt.log" 2>&1 ||
		die "cannot download $*: $(apt_error)"
	local deb
	for deb in "$t"/deb/*.deb; do
		dpkg-deb -x "$deb" "$t/x" || die "cannot unpack $deb"
	done
}

# suite SUITE prints a source of packages of a suite of Debian's.
suite() { echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $1 main"; }

# unpack_qemu unpacks QEMU's riscv64 system emulator and its firmware. The libraries
# that they need are those of the arm64 one.
unpack_qemu() {
	local t=$dir/qemu.tmp opt from
	from=$(. /etc/os-release && echo "$VERSION_CODENAME")
	[ "$from" != bookworm ] || from=bookworm-backports
	command -v qemu-system-aarch64 >/dev/null || "$here/setup.bash"
	suite "$from" >"$dir/qemu.list"
	apt_for "$(dpkg --print-architecture)" "$dir/qemu.list"
	download opensbi qemu-system-riscv
	rm -rf "$dir/qemu"
	mkdir -p "$dir/qemu/usr/bin"
	mv "$t/x/usr/bin/qemu-system-riscv64" "$dir/qemu/usr/bin"
	mv "$t/x/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin" "$dir/bios" # last
	rm -rf "$t"
}

# fetch_kernel unpacks the kernel and its disk drivers.
fetch_kernel() {
	[ -s "$dir/vmlinuz" ] && return
	local t=$dir/kernel.tmp opt
	local src=/etc/apt/sources.list.d/debian.sources
	[ -e $src ] || src=/etc/apt/sources.list
	[ -e $src ] || die "apt has no sources: neither /etc/apt/sources.list.d/debian.sources nor /etc/apt/sources.list"
	if [ $arch = riscv64 ]; then # older releases don't have it
		src=$dir/kernel.list
		suite trixie >"$src"
	fi
	apt_for $arch "$src"
	local pkg
	pkg=$(apt-cache "${opt[@]}" show $kernel_meta 2>>"$dir/apt.log" |
		sed -n 's/^Depends: *\(linux-image-[^ ,]*\).*/\1/p' | head -n 1) || true
	[ -n "$pkg" ] || die "apt knows no $kernel_meta: the machine's package source is not Debian's"
	download "$pkg"
	rm -rf "$dir/modules"
	mkdir "$dir/modules"
	local m
	for m in "${modules[@]}"; do
		find "$t/x" -name "$m.ko*" -exec cp {} "$dir/modules" \;
		[ ! -e "$dir/modules/$m.ko.xz" ] || xz -df "$dir/modules/$m.ko.xz"
		[ -s "$dir/modules/$m.ko" ] || die "$pkg has no module $m.ko"
	done
	mv "$t"/x/boot/vmlinu[xz]-* "$dir/vmlinuz" # last: its presence means that all is here
	rm -rf "$t"
}

# build makes the guest's init and the host's runvm.
build() {
	command -v "$go" >/dev/null || die "no go command ($go): put one in PATH or set GO"
	export CGO_ENABLED=0 GOFLAGS= GOWORK=off GOTOOLCHAIN=local GOEXPERIMENT=
	cd "$here"
	GOOS=linux GOARCH=$arch "$go" build -ldflags='-s -w' -o "$dir/init.tmp" ./guestinit ||
		die "building the guest's init failed"
	GOOS= GOARCH= "$go" build -o "$dir/runvm.tmp" ./runvm || die "building runvm failed"
	mv "$dir/init.tmp" "$dir/init"
	mv "$dir/runvm.tmp" "$dir/runvm"
}

[ "$(uname -s)" = Linux ] || die "the emulated machine needs a Linux host"
mkdir -p "$dir" 2>/dev/null || die "cannot make $dir: set PMUVM to a directory that can be written"
dir=$(cd "$dir" && pwd -P)
want=$(sources)
if [ "$(cat "$dir/ready" 2>/dev/null)" = "$want" ] && have_qemu; then
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
