#!/usr/bin/env bash
# Copyright 2026 The Go Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

# overlay.bash builds and maintains the fork: an overlay of new files and
# zero-context patches over the release of Go that the file RELEASE pins.
#
#	overlay.bash build [-force]       build goroot, unless it is up to date
#	overlay.bash status               what is left to export or to build?
#	overlay.bash export [-force] [PATH...]
#	                                  write what was edited in goroot to the overlay
#	overlay.bash footprint            upstream's lines that the overlay adds and removes
#	overlay.bash rebase RELEASE       carry the overlay to another release
#	overlay.bash resolve              finish a rebase that left conflicts
#
# With -force, build discards edits that were not exported, and export takes
# goroot's version of what has changed in the overlay, too.
#
# goroot is a git working tree: the tag release has upstream's files, and HEAD the
# overlay's on top. So git applies the patches, finds the edits and merges a release
# with ours. Rebase in a clone of this repository, where goroot has been built. Where
# that leaves conflicts, resolve them in goroot.rebase, a working tree, too.
#
# The overlay itself is a tree in goroot's repository. refs/overlay/built is as it was
# for the build, and refs/overlay/base has what was exported since.

set -eu -o pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
recipe=misc/pmu/overlay # what belongs to the overlay besides src and go.env.patch
goroot=$root/goroot stage=$root/goroot.stage previous=$root/goroot.previous rebase=$root/goroot.rebase
tmp=$(mktemp -d)
staging= # not empty where the staging directory is ours to remove
trap 'rm -rf "$tmp" ${staging:+"$stage" "$stage.mod"}' EXIT

fail() { printf 'overlay: %s\n' "$@" >&2; exit 1; }
say() { printf '%4ds  %s\n' $SECONDS "$*"; }
failed=
complain() { failed=1; printf 'overlay: %s\n' "$*" >&2; }
usage() { sed -n $'s/^#\t/usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }

# Git works in the directory $tree, whatever the user's configuration and repositories
# are. What it is told to leave alone are files that builds, tests and editors write.
tree=$goroot
for name in $(compgen -e | grep '^GIT_' || :); do unset "$name"; done
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_CEILING_DIRECTORIES=$root
export GIT_{AUTHOR,COMMITTER}_NAME=overlay GIT_{AUTHOR,COMMITTER}_EMAIL=overlay
g() {
	git -C "$tree" -c safe.directory='*' -c core.autocrlf=false -c core.quotePath=false -c core.hooksPath=/dev/null \
		-c core.fsync=none -c core.compression=0 -c merge.conflictStyle=diff3 -c merge.renames=false "$@"
}
version_file=src/internal/buildcfg/zbootstrap.go # by cmd/dist, like VERSION
doc_file=src/cmd/go/alldocs.go
ignored="/*
!/src/
!/go.env
*.test
*.exe
*.prof
*.pprof
*.out
*.orig
*.rej
*~
[#]*#
.#*
*.sw[op]
.DS_Store
!**/testdata/**
/$version_file"

# lock waits until no other process builds or rebases. The kernel unlocks.
lock() {
	staging=1
	if command -v flock >/dev/null; then
		exec 9>"$goroot.lock"
		flock 9
	fi
	rm -rf "$stage" "$stage.mod"
}

# overlay_tree makes a git tree of the overlay as it is now. Each of its files is a new
# file or the patch of one of upstream's.
overlay_tree() {
	(
		export GIT_INDEX_FILE=$tmp/index GIT_DIR=$tree/.git GIT_WORK_TREE=$root
		rm -f "$GIT_INDEX_FILE"
		cd "$root"
		tree=$root
		g add -A src
		for file in go.env.patch $recipe/RELEASE $recipe/overlay.bash; do
			[ ! -e "$file" ] || g add -f "$file"
		done
		g write-tree
	)
}
patches() { (cd "$root" && ls go.env.patch 2>/dev/null; find src -name '*.patch' | sort); }

# The release and its module's checksums.
pin() { sed 's/#.*//' "$root/$recipe/RELEASE" | awk "$1"; }
release=$(pin 'NF == 1 { print $1 }')
[ "$release" ] || fail "$recipe/RELEASE names no release"
# The go command keys its build cache by the version of the compiler, assembler and
# linker, not by what is in them: a change to what they generate needs a new suffix.
fork=$release-pmu

# user_go is the go command that the user has. It downloads.
user_go() {
	env -u GOROOT -u GOOS -u GOARCH -u GOEXPERIMENT GOTOOLCHAIN=local GOWORK=off GO111MODULE=on GOFLAGS= "$@"
}
platform=$(user_go go env GOHOSTOS GOHOSTARCH | paste -sd- -)
# fork_go is that of the tree. Nothing that starts with GO or CGO but the places of caches
# gets through, so that the same overlay gives the same toolchain for everyone.
fork_go() (
	for name in $(compgen -e | grep -E '^(GO|CGO_)' || :); do
		case $name in GOCACHE | GOTMPDIR | GOPATH | GOMAXPROCS) ;; *) unset "$name" ;; esac
	done
	export GOROOT=$tree GOENV=off GOTOOLCHAIN=local GOWORK=off GOTELEMETRY=off CGO_ENABLED=0
	"$tree/bin/go" "$@"
)

# fetch RELEASE DIR unpacks the release, which the go command checks against the checksum
# database. It unpacks the zip file once more, to compare its checksum with the pinned
# one, and because the directory in the module cache may have been edited, and has more
# files after a go command has run from there.
fetch() {
	local module=golang.org/toolchain@v0.0.1-$1.$platform want file
	say "getting $module"
	(cd "$tmp" && user_go go mod download "$module") ||
		fail "cannot get $module: it comes through the Go module proxy: check the network and GOPROXY"
	(cd "$tmp" && user_go env GOPROXY="file://$(user_go go env GOMODCACHE)/cache/download" GOMODCACHE="$2.mod" \
		GOSUMDB=off GOFLAGS=-modcacherw go mod download -json "$module") >"$tmp/module" ||
		fail "cannot unpack $module: $(<"$tmp/module"): remove it (go clean -modcache) and try again"
	sum=$(sed -n 's/.*"Sum": "\(.*\)".*/\1/p' "$tmp/module")
	want=$(pin "NF == 2 && \$1 == \"$platform\" { print \$2 }")
	if [ "$1" = "$release" ] && [ "$want" ] && [ "$want" != "$sum" ]; then
		rm -rf "$2.mod"
		fail "checksum mismatch: $module is $sum, want $want: remove it (go clean -modcache) and try again"
	fi
	mv "$2.mod/golang.org/toolchain@v0.0.1-$1.$platform" "$2"
	rm -rf "$2.mod"
	# Modules have neither modes nor other modules in them.
	find "$2" -name _go.mod | while read -r file; do mv "$file" "${file%_go.mod}go.mod"; done
	find "$2/bin" "$2/pkg/tool" "$2/src" -type f \( ! -path "$2/src/*" -o -name '*.bash' -o -name '*.sh' -o -name '*.pl' -o -name '*.rc' \) -exec chmod +x {} +
}

# patch PATH prints the patch of one of upstream's files that makes it what the tree has,
# with the commentary that the overlay's patch has. After the second @@ git quotes a line.
patch() {
	g diff --unified=0 --no-color --no-ext-diff --no-textconv --no-renames "$upstream" -- "$1" >"$tmp/diff"
	[ -s "$tmp/diff" ] || return 0
	[ ! -e "$root/$1.patch" ] || sed '/^--- /,$d' "$root/$1.patch"
	sed -n '/^--- /,$p' "$tmp/diff" | sed 's/^\(@@ .* @@\).*/\1/'
}
upstream=release
has_upstream() { g cat-file -e "$upstream:$1" 2>/dev/null; }

# lay lays the files of the overlay that it reads over the tree, and commits that. A patch
# must be what export would write, so that it applies where it says, to that file alone,
# and holds no upstream text but what it replaces.
lay() {
	local file path own=$tmp/own
	: >"$own"
	while read -r file; do
		path=${file%.patch}
		if [ "$path" = "$file" ]; then
			echo "$file" >>"$own"
			[ ! -e "$tree/$file" ] || complain "$file: is in $release too: make it a patch or rename it"
		elif [ ! -e "$tree/$path" ]; then
			complain "$file: does not apply: $release has no such file"
		elif ! g apply --unidiff-zero "$root/$file"; then
			complain "$file: does not apply"
		elif ! patch "$path" | diff "$root/$file" - >"$tmp/differs"; then
			complain "$file: is not as export writes it: $(sed -n '/^> /{s///p;q;}' "$tmp/differs")"
		fi
	done
	[ ! "$failed" ] || exit 1
	(cd "$root" && tar -cf - -T "$own") | (cd "$tree" && tar -xf -)
	g add -A
	g commit -q --allow-empty -m "$fork"
}

# build makes the tree in a staging directory, which becomes goroot by a rename when it is
# complete and has answered for itself: a build that fails or is killed leaves goroot as
# it was.
build() {
	local force= edited
	[ "${1-}" != -force ] || { force=1; shift; }
	[ $# = 0 ] || usage
	lock
	[ -e "$goroot" ] || [ ! -e "$previous" ] || mv "$previous" "$goroot" # killed between the renames
	rm -rf "$previous"
	[ ! -e "$rebase" ] || fail "$rebase has conflicts of a rebase: resolve them, then run overlay.bash resolve"
	if [ -e "$goroot" ] && [ ! "$force" ]; then
		require_build
		if [ "$(g rev-parse refs/overlay/built)" = "$(overlay_tree)" ]; then
			say "$goroot is up to date"
			how_to_use
			return
		fi
		edits >"$tmp/edits"
		edited=$(head -n 3 "$tmp/edits" | paste -sd' ' -)
		[ ! "$edited" ] || fail "$goroot was edited ($edited): export that first, or use -force to discard it"
	fi
	fetch "$release" "$stage"
	tree=$stage
	say "applying the overlay"
	g init -q
	echo "$ignored" >"$stage/.git/info/exclude"
	# A threshold of one byte makes add write a single pack, not 12,000 files.
	g -c core.bigFileThreshold=1 add -A
	g commit -q -m "$release"
	g tag release
	local all=$(overlay_tree)
	# Programs get from these packages what no command has a use for, and the compiler
	# runs on the runtime that upstream released. A change to the runtime takes seconds
	# to build, where linking it into every command takes a minute.
	local not_in_commands='^src/(runtime|testing|net/http|cmd/pmu)/'
	g ls-tree -r --name-only "$all" | grep -v "^$recipe/" >"$tmp/files"
	lay < <(grep -Ev "$not_in_commands" "$tmp/files")
	g tag commands
	lay < <(grep -E "$not_in_commands" "$tmp/files")
	say "building the commands"
	local branch=$(g symbolic-ref --short HEAD)
	g checkout -q commands
	replace VERSION "s/^$release\$/$fork/"
	replace $version_file "s/^const version = \`.*\`\$/const version = \`$fork\`/"
	build_commands
	g checkout -q "$branch"
	document
	say "checking it"
	check
	g update-ref refs/overlay/base "$all"
	g update-ref refs/overlay/built "$all"
	[ ! -e "$goroot" ] || mv "$goroot" "$previous"
	mv "$stage" "$goroot"
	rm -rf "$previous"
	say "built $fork: $goroot"
	how_to_use
}

how_to_use() {
	printf '\n%s is ready. Put it first in PATH and use it as any go command:\n\n\texport PATH=%s:$PATH\n\n' "$fork" "$goroot/bin"
	echo 'Programs that it builds have the build tag gopmu. README.pmu.md has the rest.'
}

# document has the go command write its flags where upstream's generator does. Git, and so
# the overlay, leaves that file alone.
document() {
	has_upstream $doc_file || return 0
	g update-index --skip-worktree $doc_file
	fork_go help documentation | "$tree/bin/gofmt" >"$tree/$doc_file" || fail "the go command that was built does not document itself"
}

replace() { # replace FILE SED-SCRIPT
	sed "$2" "$tree/$1" >"$tmp/replaced"
	! cmp -s "$tmp/replaced" "$tree/$1" || fail "$1: no version $release to replace"
	cp "$tmp/replaced" "$tree/$1"
}

# build_commands builds every command that the release comes with anew. The release's own
# toolchain does, at work in the staging tree, so the result does not depend on what was
# built before. Only the name that a linker gives a program as its runtime.Version has to
# be set apart, because the linker at work still has the release's. Upstream's compiler is
# optimized by profile, which makes it a few per cent faster, and takes a quarter of the
# build's time.
build_commands() {
	local name names=$(cd "$tree" && ls bin/* pkg/tool/*/*) new=$tree/pkg/rebuilt
	mkdir "$new"
	for name in $names; do # the go command links only those that differ
		[ ! -f "$goroot/$name" ] || cp "$goroot/$name" "$new/"
	done
	(cd "$tree/src" && fork_go build -trimpath -pgo=off -gcflags=all=-dwarf=false \
		-ldflags="-w -X=runtime.buildVersion=$fork" -o "$new/" \
		$(for name in $names; do name=${name##*/}; echo "cmd/${name%.exe}"; done)) || fail "building the commands failed"
	for name in $names; do mv "$new/${name##*/}" "$tree/$name"; done
	rmdir "$new"
}

# check demands that the new toolchain, and a program that it builds, say who they are. A
# runtime under development may print more.
check() {
	local got
	got=$(fork_go version) || fail "the go command that was built does not run: $got"
	[ "$got" = "go version $fork ${platform/-//}" ] || fail "the go command that was built says '$got'"
	mkdir "$tmp/check"
	cd "$tmp/check"
	echo 'module check' >go.mod
	printf 'package main\nimport "runtime"\nfunc main() { println(runtime.Version(), tag) }\n' >main.go
	printf '//go:build gopmu\npackage main\nconst tag = "gopmu"\n' >fork.go
	printf '//go:build !gopmu\npackage main\nconst tag = "without gopmu"\n' >stock.go
	got=$(fork_go run . 2>&1) || fail "a program that the new toolchain builds does not run: $got"
	[[ $got == *"$fork gopmu" ]] || fail "a program that the new toolchain builds says '$got'"
	cd "$root"
}

require_build() {
	[ -e "$goroot" ] || fail "$goroot is not built: run ./make.bash"
	[ -d "$goroot/.git" ] && g rev-parse -q --verify refs/overlay/built >/dev/null ||
		fail "$goroot is not a tree that this command built: remove it, or use build -force"
}

# edits lists the files in the tree that differ from HEAD, all or those under PATHs.
# Without -z, git quotes a name that has a space.
edits() { g status -z --no-renames -uall -- "$@" | tr '\0' '\n' | cut -c4-; }

status() {
	require_build
	edits >"$tmp/edits"
	sed 's/^/edited, not exported: /' "$tmp/edits"
	[ ! -s "$tmp/edits" ] || fail "$goroot has $(grep -c . "$tmp/edits") files to export"
	[ "$(g rev-parse refs/overlay/built)" = "$(overlay_tree)" ] ||
		fail "$goroot was built from another state of the overlay: run ./make.bash"
	echo "$goroot: $fork, as in the overlay"
}

# export_file PATH makes the overlay give the file what it has in the tree. It must neither
# undo what came into the overlay after the build, nor lose an edit to it.
export_file() {
	local path=$1 file=$1 new=$tmp/new old base was
	rm -f "$new"
	if has_upstream "$path"; then
		file=$path.patch
		[ -e "$tree/$path" ] || { complain "$path: is deleted, and an overlay cannot delete upstream's files"; return; }
		patch "$path" >"$new"
		if [ ! -s "$tmp/diff" ]; then
			rm "$new"
		elif ! grep -q '^@@ ' "$tmp/diff"; then
			complain "$path: is binary, or only its mode changed, which a patch can't hold"
			return
		fi
	elif [[ $path == *.patch ]]; then
		complain "$path: a new file can't have this name: the overlay would take it for a patch"
		return
	elif [ -e "$tree/$path" ]; then
		cp -p "$tree/$path" "$new"
	fi
	base=$(g rev-parse -q --verify "refs/overlay/base:$file" || :)
	if ! same "$new" "$root/$file"; then
		was=written
		[ -e "$root/$file" ] || was=added
		[ -e "$new" ] || was=removed
		old=$([ ! -e "$root/$file" ] || g hash-object "$root/$file")
		if [ ! "$force" ] && [ "$old" != "$base" ]; then
			complain "$path: changed both here and in the overlay since the build: merge by hand, or use -force to take this one"
			return
		fi
		mkdir -p "$(dirname "$root/$file")"
		if [ -e "$new" ]; then cp "$new" "$root/$file"; else rm "$root/$file"; fi
		echo "$was $file"
	fi
	echo "$path" >>"$tmp/paths"
	[ ! "$base" ] && [ ! -e "$root/$file" ] || echo "$file" >>"$tmp/files"
}
same() { if [ -e "$1" ]; then cmp -s "$1" "$2"; else [ ! -e "$2" ]; fi; }

export_edits() {
	local path
	force=
	[ "${1-}" != -force ] || { force=1; shift; }
	require_build
	edits "$@" >"$tmp/edits"
	: >"$tmp/paths" >"$tmp/files"
	while read -r path; do export_file "$path"; done <"$tmp/edits"
	if [ -s "$tmp/paths" ]; then
		# What was exported is no longer an edit, but not built.
		g add -A -f --pathspec-from-file="$tmp/paths"
		g commit -q -m export
		(
			export GIT_INDEX_FILE=$tmp/index
			g read-tree refs/overlay/base
			[ ! -s "$tmp/files" ] ||
				GIT_DIR=$goroot/.git GIT_WORK_TREE=$root tree=$root g add -A -f --pathspec-from-file="$tmp/files"
			g update-ref refs/overlay/base "$(g write-tree)"
		)
	fi
	echo "$(grep -c . "$tmp/paths") files exported from $goroot"
}

footprint() {
	local file
	printf '%7s %7s  %s\n' added removed "upstream file ($release)"
	tree=$root
	patches | while read -r file; do
		g apply --numstat --unidiff-zero "$root/$file"
	done | awk '{ printf "%7d %7d  %s\n", $1, $2, $3; a += $1; r += $2 } END { printf "%7d %7d  total, %d files\n\n", a, r, NR }'
	(cd "$root" && find src -type f ! -name '*.patch' | sort) >"$tmp/own"
	local tests='(_test\.go$|/testdata/)'
	count() { (cd "$root" && tr '\n' '\0' | xargs -0 cat) | wc -l; }
	echo "$(grep -Ev "$tests" "$tmp/own" | count) lines in $(grep -Evc "$tests" "$tmp/own") own files," \
		"and $(grep -E "$tests" "$tmp/own" | count) in $(grep -Ec "$tests" "$tmp/own") of tests and their data"
	for file in $(patches); do
		sed '/^--- /,$d' "$root/$file" | paste -sd' ' - | grep -qE '[^ ]+ +[^ ]+ +.*\. *$' ||
			complain "$file: does not begin with a sentence that says what it is for"
	done
}

# rebase merges the next release with the overlay in a second working tree.
rebase() {
	local next=go${1#go} ours
	lock
	status >/dev/null
	[ ! -e "$rebase" ] || fail "$rebase is there already: resolve its conflicts, or remove it"
	fetch "$next" "$stage"
	ours=$(g commit-tree 'HEAD^{tree}' -p release -m "the overlay")
	g worktree prune
	g worktree add -q --no-checkout --detach "$rebase" release
	mv "$stage/src" "$stage/go.env" "$rebase/"
	tree=$rebase
	g add -A
	g commit -q --allow-empty -m "$next"
	g tag -f next >/dev/null
	printf '%s\n' "$next" "$platform $sum" >"$rebase/RELEASE"
	if ! g cherry-pick --no-commit "$ours" >"$tmp/merge" 2>&1 && [ ! "$(g ls-files --unmerged)" ]; then
		rm -rf "$rebase" # without a merge, resolve would take all of ours for removed
		fail "git cannot merge: $(<"$tmp/merge")"
	fi
	resolve
}

# resolve exports what the merge has made of the overlay. While there are conflicts it
# writes nothing.
resolve() {
	local path next
	[ -e "$rebase" ] || fail "no rebase to resolve: there is no $rebase"
	tree=$rebase upstream=next force=1
	next=$(head -n 1 "$rebase/RELEASE")
	g add -A
	g diff --cached --name-only next >"$tmp/changed"
	while read -r path; do
		if grep -qs '^<<<<<<< ' "$tree/$path"; then
			complain "CONFLICT $path: has conflict markers"
		elif [ -e "$root/$path.patch" ] && ! has_upstream "$path"; then
			complain "CONFLICT $path: upstream no longer has this file: remove it here and its patch"
		elif [ -e "$root/$path" ] && has_upstream "$path"; then
			complain "CONFLICT $path: upstream now has a file of this name: rename ours"
		fi
	done <"$tmp/changed"
	[ ! "$failed" ] || fail "the overlay does not fit $next: resolve the conflicts in $rebase, then run overlay.bash resolve"
	{ cat "$tmp/changed"; patches | sed 's/\.patch$//'; } | sort -u >"$tmp/merged"
	while read -r path; do export_file "$path"; done <"$tmp/merged"
	[ ! "$failed" ] || fail "correct that in $rebase, then run overlay.bash resolve"
	# The only checksum is that of this platform, whose module was fetched and verified.
	{ sed -n '/^#/p' "$root/$recipe/RELEASE"; cat "$rebase/RELEASE"; } >"$tmp/RELEASE"
	cp "$tmp/RELEASE" "$root/$recipe/RELEASE"
	rm -rf "$rebase"
	echo "the overlay is for $next now: run ./make.bash, then ./test.bash"
}

command=${1-}
[ $# = 0 ] || shift
case $command in
build) build "$@" ;;
status | footprint | resolve) [ $# = 0 ] || usage; "$command" ;;
export) export_edits "$@" ;;
rebase) [ $# = 1 ] || usage; rebase "$1" ;;
*) usage ;;
esac
[ ! "$failed" ]
