// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package verb has what the verbs of go tool pmu have in common.
package verb

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// IO is what a verb reads and writes.
type IO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Exit statuses. A verb has 1 for an answer that is not the usual one; its help says which.
const (
	OK    = 0
	Other = 1
	Error = 2
)

// A Verb is one thing that the tool does.
type Verb struct {
	Name  string
	Args  string // after the flags
	Short string // what it does, in a line
	Long  string // and how, with an example
	Run   func(v *Verb, args []string, std IO) (status int)
}

// Flags returns a set of flags. With -h it prints the verb's help.
func (v *Verb) Flags(std IO) *flag.FlagSet {
	fs := flag.NewFlagSet(v.Name, flag.ContinueOnError)
	fs.SetOutput(std.Stderr)
	fs.Usage = func() {
		fmt.Fprintf(std.Stderr, "usage: go tool pmu %s [flags] %s\nFor more, run: go tool pmu %s -h\n", v.Name, v.Args, v.Name)
	}
	return fs
}

// Parse parses the arguments. If it returns false, the verb ends with the status.
func (v *Verb) Parse(fs *flag.FlagSet, args []string, std IO) (status int, ok bool) {
	usage := fs.Usage
	fs.Usage = func() {} // it knows not of which kind the error is
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		v.help(fs, std.Stdout)
		return OK, false
	case err != nil: // which has been printed
		usage()
		return Error, false
	}
	fs.Usage = usage
	if err := misplaced(fs, args); err != nil {
		v.Fail(std, err)
		usage()
		return Error, false
	}
	return OK, true
}

// misplaced returns an error if there is a flag after the first argument that is none: package flag
// ends there, so it would be a file. After "--" all are files.
func misplaced(fs *flag.FlagSet, args []string) error {
	rest := fs.Args()
	if n := len(args) - len(rest); len(rest) == 0 || n > 0 && args[n-1] == "--" {
		return nil
	}
	for _, arg := range rest[1:] {
		if len(arg) < 2 || arg[0] != '-' {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if fs.Lookup(name) == nil {
			return fmt.Errorf("there is no flag %.100s, and a file of this name is ./%.100s", arg, arg)
		}
		return fmt.Errorf("-%s is after %.100q: flags belong before the first argument that is none", name, rest[0])
	}
	return nil
}

// help prints what the verb does.
func (v *Verb) help(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "usage: go tool pmu %s [flags] %s\n\n%s\nFlags:\n\n", v.Name, v.Args, strings.TrimPrefix(v.Long, "\n"))
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// Fail prints an error, and returns the status for it.
func (v *Verb) Fail(std IO, err error) int {
	fmt.Fprintf(std.Stderr, "pmu %s: %s\n", v.Name, strings.TrimPrefix(err.Error(), v.Name+": "))
	return Error
}
