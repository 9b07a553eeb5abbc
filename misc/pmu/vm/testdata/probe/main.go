// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Probe runs in the emulated machine and shows one side of it, which its
// first argument names, to vm_test.go.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pmu/bench/bare"
)

var modes = map[string]func(args []string){
	"exit":  func(a []string) { n, _ := strconv.Atoi(a[0]); os.Exit(n) },
	"kill":  func([]string) { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"print": print,
	"self":  self,
	"write": write,
	"spin":  spin,
	"count": count,
}

func main() {
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "probe: no such mode")
		os.Exit(2)
	}
	modes[os.Args[1]](os.Args[2:])
}

// print writes every byte value and long output on both streams.
func print([]string) {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	os.Stdout.Write(all[:])
	os.Stdout.WriteString(strings.Repeat("out\n", 20000))
	os.Stderr.WriteString("err\n")
}

// self prints what the program sees of the world.
func self(args []string) {
	dir, _ := os.Getwd()
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	data, err := os.ReadFile("testdata/probe/data.txt")
	fmt.Printf("args=%q\n", args)
	fmt.Printf("dir=%s\n", dir)
	fmt.Printf("env=%s,%s,%s\n", os.Getenv("PMU_TEST"), os.Getenv("GODEBUG"), os.Getenv("OTHER"))
	fmt.Printf("uid=%d\n", os.Getuid())
	fmt.Printf("paranoid=%s\n", strings.TrimSpace(string(paranoid)))
	fmt.Printf("data=%s err=%v\n", strings.TrimSpace(string(data)), err)
	l, err := net.Listen("tcp", "localhost:0")
	if err == nil {
		l.Close()
	}
	fmt.Printf("listen=%v\n", err)
}

// write leaves files in PMUVM_OUT.
func write([]string) {
	dir := os.Getenv("PMUVM_OUT")
	os.MkdirAll(dir+"/sub", 0o777)
	for name, size := range map[string]int{"/a": 0, "/sub/b": 3 << 20} {
		if err := os.WriteFile(dir+name, []byte(strings.Repeat("x", size)), 0o640); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// count prints the cycles and instructions of two million turns of a loop of two
// instructions.
func count([]string) {
	const turns = 2e6
	runtime.LockOSThread()
	for _, name := range []string{"cycles", "instructions"} {
		event := map[string]bare.Event{"cycles": bare.Cycles, "instructions": bare.Instructions}[name]
		c, err := bare.Count(event, bare.User)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		before := c.Read()
		bare.Spin(2 * turns)
		fmt.Println(name, int(turns), c.Read()-before)
		c.Close()
	}
}

// spin prints a line and never ends.
func spin([]string) {
	fmt.Println("spinning")
	for {
		time.Sleep(time.Hour)
	}
}
