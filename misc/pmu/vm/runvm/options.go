// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options says how the machine is made and who runs the program.
type Options struct {
	Dir      string        // what setup.bash made
	Arch     arch          // whose programs the machine runs
	SMP      int           // CPUs
	Icount   string        // QEMU's -icount; "none" for real time
	CPU      string        // QEMU's -cpu, or "" for the architecture's
	Mem      int           // MiB
	Timeout  time.Duration // real time, from power-on to power-off
	UID      int           // user and group of the program
	Paranoid int           // kernel.perf_event_paranoid
	Out      string        // absolute directory to fetch files from and to, or ""
	Files    []string      // more files and directories to ship
	Env      []string      // names of more variables to pass on
	Seed     int           // of all randomness that QEMU gives the guest
	Date     string        // the guest's clock at power-on
}

// knobs are the variables that set the Options, with their defaults.
var knobs = []struct {
	name, preset string
	set          func(o *Options, v string) error
}{
	// The directory that setup.bash filled, and for what; go_linux_arm64_exec sets both.
	{"PMUVM", "", func(o *Options, v string) error { return setPath(&o.Dir, v) }},
	{"PMUVM_ARCH", "arm64", func(o *Options, v string) error { return setArch(&o.Arch, v) }},
	{"PMUVM_SMP", "1", func(o *Options, v string) error { return setInt(&o.SMP, v, 1) }},
	// shift=0 is one instruction per virtual nanosecond, so that a run is a
	// function of its input; sleep=off makes idle time pass at once.
	{"PMUVM_ICOUNT", "shift=0,sleep=off", func(o *Options, v string) error { o.Icount = v; return nil }},
	{"PMUVM_CPU", "", func(o *Options, v string) error { o.CPU = v; return nil }},
	{"PMUVM_MEM", "2048", func(o *Options, v string) error { return setInt(&o.Mem, v, 128) }},
	{"PMUVM_TIMEOUT", "600", func(o *Options, v string) error { return setTimeout(&o.Timeout, v) }},
	{"PMUVM_UID", "0", func(o *Options, v string) error { return setInt(&o.UID, v, 0) }},
	{"PMUVM_PARANOID", "1", func(o *Options, v string) error { return setInt(&o.Paranoid, v, -1) }},
	{"PMUVM_OUT", "", func(o *Options, v string) error { return setPath(&o.Out, v) }},
	{"PMUVM_FILES", "", func(o *Options, v string) error { o.Files = filepath.SplitList(v); return nil }},
	{"PMUVM_ENV", "", func(o *Options, v string) error { o.Env = strings.Fields(v); return nil }},
	{"PMUVM_SEED", "1", func(o *Options, v string) error { return setInt(&o.Seed, v, 0) }},
	{"PMUVM_DATE", "2026-01-01T00:00:00", func(o *Options, v string) error { o.Date = v; return nil }},
}

// optionsFromEnv reads the knobs. An empty variable counts as unset.
func optionsFromEnv(lookup func(string) (string, bool)) (*Options, error) {
	o := new(Options)
	for _, k := range knobs {
		v, _ := lookup(k.name)
		if v == "" {
			v = k.preset
		}
		if err := k.set(o, v); err != nil {
			return nil, fmt.Errorf("%s=%q: %v", k.name, v, err)
		}
	}
	if o.Dir == "" {
		return nil, fmt.Errorf("PMUVM is not set: it names the directory that misc/pmu/vm/setup.bash filled")
	}
	return o, nil
}

func setInt(p *int, v string, least int) (err error) {
	if *p, err = strconv.Atoi(v); err != nil || *p < least {
		return fmt.Errorf("want a number of at least %d", least)
	}
	return nil
}

func setTimeout(p *time.Duration, v string) error {
	var seconds int
	if err := setInt(&seconds, v, 1); err != nil {
		return fmt.Errorf("want seconds: %v", err)
	}
	*p = time.Duration(seconds) * time.Second
	return nil
}

// setPath makes v absolute; an empty v stays empty.
func setPath(p *string, v string) (err error) {
	if v != "" {
		*p, err = filepath.Abs(v)
	}
	return err
}
