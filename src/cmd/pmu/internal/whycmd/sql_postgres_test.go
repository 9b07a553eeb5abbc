// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This file runs SQL on a PostgreSQL of its own.

// A postgres is a server that the test has started.
type postgres struct {
	psql, dir string
	pid       int // of the server, whose children are the sessions
}

// startPostgres starts a server in a temporary directory, on a socket there.
func startPostgres(t *testing.T) (e engine, missing string) {
	t.Helper()
	bin := ""
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // Debian has them in no PATH
	for _, dir := range append(places, filepath.SplitList(os.Getenv("PATH"))...) {
		if exec.Command(filepath.Join(dir, "postgres"), "--version").Run() == nil && exec.Command(filepath.Join(dir, "initdb"), "--version").Run() == nil {
			bin = dir
		}
	}
	psql, err := exec.LookPath("psql")
	if bin == "" || err != nil {
		return nil, "there is no PostgreSQL: install Debian's package postgresql"
	}
	dir, err := os.MkdirTemp("", "why") // a short name, as that of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	server := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		return cmd
	}
	// It refuses to run as root.
	var attr *syscall.SysProcAttr
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, "PostgreSQL does not run as root, and there is no user postgres: " + err.Error()
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	init := server("initdb", "-D", filepath.Join(dir, "data"), "-U", "why", "-A", "trust", "-E", "UTF8", "--no-sync")
	init.SysProcAttr = attr
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	var log bytes.Buffer
	run := server("postgres", "-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "autovacuum=off", "-c", "max_wal_size=8GB", "-c", "shared_buffers=512MB")
	run.SysProcAttr = attr
	run.Stdout, run.Stderr = &log, &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Signal(syscall.SIGINT)
		run.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%s", log.Bytes())
		}
	})
	p := &postgres{psql, dir, run.Process.Pid}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if out, err := p.command("-c", "SELECT version()").CombinedOutput(); err == nil {
			t.Logf("PostgreSQL %s", bytes.Fields(out)[2])
			return p, ""
		} else if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v\n%s", err, out)
		}
	}
}

func (p *postgres) command(args ...string) *exec.Cmd {
	return exec.Command(p.psql, append([]string{"-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", p.dir, "-U", "why", "postgres"}, args...)...)
}

func (p *postgres) dialect() string { return "postgresql" }

// cpu returns what sessions that have ended took, and that the server has waited for: it has for
// those before, as good as always, when it answers another one.
func (p *postgres) cpu() time.Duration {
	p.command("-c", "SELECT 1").Run()
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // of the name, which may have spaces
	var ticks int64
	if fields := bytes.Fields(rest); len(fields) > 14 {
		for _, field := range fields[13:15] { // of children that it has waited for: user and system
			n, _ := strconv.ParseInt(string(field), 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100
}

func (p *postgres) load(file, script string) error {
	cmd := p.command("-f", "-")
	cmd.Stdin = strings.NewReader("DROP TABLE IF EXISTS requests;\n" + strings.Join(loads(script, file), "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("loading: %v\n%s", err, out)
	}
	return nil
}

func (p *postgres) run(script string) (events, pairs [][]string, err error) {
	cmd := p.command("-f", "-")
	cmd.Stdin = strings.NewReader(script)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("the script: %v\n%s", err, errs.Bytes())
	}
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%v\n%s", err, out)
	}
	at := slices.IndexFunc(rows, func(row []string) bool { return slices.Equal(row, []string{"one", "other", "jaccard"}) })
	if at < 1 || !slices.Equal(rows[0], []string{"event", "n", "high", "threshold", "raw", "own", "adjusted", "cause", "jaccard", "remark"}) {
		return nil, nil, fmt.Errorf("the script printed\n%s", out)
	}
	return rows[1:at], rows[at+1:], nil
}
