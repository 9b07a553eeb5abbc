// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package off measures the cost to a program that takes no profile, by the operations
// that a profiler could slow down.
package off

import (
	"runtime"
	"syscall"
)

// An op is an operation, done n times.
type op struct {
	name string
	do   func(n int)
}

var ops = []op{
	{"goroutine switch", gosched},
	{"channel, ping-pong", pingPong},
	{"system call", getppid},
	{"goroutine, start to end", spawn},
}

func gosched(n int) {
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
	stop <- true
}

func pingPong(n int) {
	a, b := make(chan int), make(chan int)
	go func() {
		for x := range a {
			b <- x
		}
		close(b)
	}()
	for i := 0; i < n; i++ {
		a <- i
		<-b
	}
	close(a)
	<-b
}

func getppid(n int) {
	for i := 0; i < n; i++ {
		syscall.Getppid()
	}
}

func spawn(n int) {
	done := make(chan bool)
	for i := 0; i < n; i++ {
		go func() { done <- true }()
		<-done
	}
}
