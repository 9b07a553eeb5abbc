// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.
package main

import (
	"os"
	"path/filepath"

	"pmu/internal/tool"
)

// Programs that are built to see how large they are.
var programs = []struct{ name, text string }{
	{"hello", `package main

import "fmt"

func main() { fmt.Println("hello, world") }
`},
	{"server with net/http/pprof", `package main

import (
	"log"
	"net/http"
	_ "net/http/pprof"
)

func main() { log.Fatal(http.ListenAndServe("localhost:6060", nil)) }
`},
}

// programBytes returns how large the programs are that a toolchain builds for Linux on
// amd64, without cgo. Without -trimpath they would hold the names of directories, which
// differ by machine.
func programBytes(tc tool.Toolchain, title string) (section, error) {
	s := section{title: title, columns: []column{{"bytes", someBytes}}}
	tmp, err := os.MkdirTemp("", "house")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(tmp)
	main, exe := filepath.Join(tmp, "main.go"), filepath.Join(tmp, "program")
	env := []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0"}
	for _, p := range programs {
		if err := os.WriteFile(main, []byte(p.text), 0o666); err != nil {
			return s, err
		}
		if _, err := tool.Output(tc.Command(tmp, env, "build", "-trimpath", "-o", exe, main)); err != nil {
			return s, err
		}
		n, err := tool.Size(exe)
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, row{name: p.name, numbers: []int{n}})
	}
	return s, nil
}
