// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build example

// Grpc is a server and a client of gRPC with the interceptors of doc/pmu-tasks.md, which
// TestGRPC adds as another file. Both print the records of their tasks.
//
//	grpc          # a server; it prints its address, and ends when standard input says how many tasks
//	grpc ADDRESS  # a client
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"pmu/foreign/records"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("grpc: ")
	var r *records.Reader
	n := 0
	if len(os.Args) > 1 {
		r, n = client(os.Args[1])
	} else {
		r, n = server()
	}
	tasks, err := r.Take(n)
	if err != nil {
		log.Fatal(err)
	}
	b, err := json.Marshal(tasks)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", b)
}

// start has tasks recorded.
func start(server uint16) *records.Reader {
	if err := records.Start(server); err != nil {
		log.Fatal(err)
	}
	return records.NewReader()
}
