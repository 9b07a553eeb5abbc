// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Hello is the least program, which has all of the runtime that must not grow
// the stack.
package main

func main() { println("hello, world") }
