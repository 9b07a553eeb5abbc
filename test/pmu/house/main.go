// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.
// House counts what grows: the fork's exported names, its footprint in upstream's files,
// lines, long files and functions, references between the files of a folder that run in
// cycles, and the size of programs.
//
//	go run ./house          # in test/pmu, with any Go; needs ./make.bash
//	go run ./house -v       # with what was counted
//	go test ./house         # compare with house.txt
//	go test ./house -update # write house.txt
//
// The file house.txt has the table as it was last written, so each growth is an edit of a
// number that a reader of the change sees, never an accident. Shrinking is to be recorded,
// too: else the number would leave room to grow unseen.
//
// Names, upstream's lines, functions without a reason and references that run up must be
// as recorded: each is a decision. Nearly every change changes lines and bytes. If each
// were recorded, the numbers would be noise, and any two changes would conflict. So lines
// may differ by 2 %, or by 20 where they are few, and bytes by 0.1 %, from what is recorded:
// small steps don't add up unseen.
//
// References are those of Linux on amd64 in goroot, as it was built last, and goroot builds
// the programs. All else is counted in the repository.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"

	"pmu/internal/tool"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("house: ")
	details := flag.Bool("v", false, "print what was counted")
	upstream := flag.Bool("upstream", false, "build the programs by upstream's toolchain as well, and print their size")
	flag.Parse()
	fork, err := tool.Fork()
	if err != nil {
		log.Fatal(err)
	}
	table, err := measure(fork)
	if err != nil {
		log.Fatal(err)
	}
	if *upstream {
		release, err := tool.Release(fork)
		if err != nil {
			log.Fatal(err)
		}
		s, err := programBytes(release, "programs by upstream's toolchain")
		if err != nil {
			log.Fatal(err)
		}
		table = append(table, s)
	}
	fmt.Print(format(table, *details))
}

// measure returns the table.
func measure(fork tool.Toolchain) ([]section, error) {
	root, err := tool.Root()
	if err != nil {
		return nil, err
	}
	all, err := files(root)
	if err != nil {
		return nil, err
	}
	var table []section
	add := func(s section, e error) {
		table = append(table, s)
		if err == nil {
			err = e
		}
	}
	add(exportedNames(filepath.Join(root, "api/next")))
	add(footprint(root))
	add(linesByWing(all), nil)
	add(longFiles(all), nil)
	add(longFunctions(all))
	found, e := folders(fork, root, all)
	add(references(found), e)
	add(programBytes(fork, "programs"))
	return table, err
}
