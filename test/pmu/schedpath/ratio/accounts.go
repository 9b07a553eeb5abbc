// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && (amd64 || arm64)

package main

import "runtime/pprof"

func init() {
	situations = append(situations, situation{"beside accounted", beside}, situation{"accounted", accounted})
}

// beside does it when other goroutines are accounted, have switched, and wait. If they
// switched meanwhile, their instructions would count.
func beside(do func()) {
	end, done := make(chan bool), make(chan bool)
	go accounted(func() {
		const n = 10
		c := make(chan int)
		for i := 0; i < n; i++ {
			go func() { // accounted from birth
				for range c {
				}
				done <- true
			}()
		}
		for i := 0; i < 10*n; i++ {
			c <- i
		}
		done <- true
		<-end
		close(c)
		for i := 0; i < n; i++ {
			<-done
		}
		end <- true
	})
	<-done
	do()
	end <- true
	<-end
}

// accounted does it in a goroutine that is accounted, as are those that it starts.
func accounted(do func()) {
	done := make(chan bool)
	go func() {
		pprof.RunningTime()
		do()
		close(done)
	}()
	<-done
}
