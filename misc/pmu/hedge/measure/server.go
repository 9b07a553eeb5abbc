// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/hazard"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const serverEnv = "HEDGE_MEASURE_FILE"

// serve is a server, which publishes in a file. It does what it reads, a command a line, and answers
// with a line.
func serve(file string) {
	p, err := hazard.Publish(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go http.Serve(l, http.HandlerFunc(answer))
	stops := newStops()
	fmt.Println("http://" + l.Addr().String())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "drain":
			p.Set(hazard.Draining, "restart")
		case "ok":
			p.Set(hazard.OK, "")
		case "world":
			began := time.Now()
			stops.stop()
			fmt.Println(began.UnixNano(), time.Now().UnixNano())
			continue
		}
		fmt.Println("done")
	}
}

// answer does as much work as the request says, and answers with its number.
func answer(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("work"))
	work(n)
	io.WriteString(w, r.FormValue("n"))
}

var sink uint64

// work is some work, in units of about 1 us.
func work(n int) {
	x := uint64(n)
	for range n * 400 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink = x
}

// Stops stop the world: the stacks of all goroutines are written while nothing else runs. There are as many
// as that takes some 7 ms for.
type stops struct{ buf []byte }

const (
	worldStop = 7 * time.Millisecond
	aThousand = 1000
)

func newStops() *stops {
	s := &stops{make([]byte, 16<<20)}
	park(aThousand)
	// The shortest of several: the machine may do something else meanwhile.
	took := time.Hour
	for range 10 {
		runtime.Gosched()
		began := time.Now()
		s.stop()
		took = min(took, time.Since(began))
	}
	park(int(aThousand*float64(worldStop)/float64(took)) - aThousand)
	return s
}

// park starts goroutines that wait for ever.
func park(n int) {
	for range n {
		go func() { select {} }()
	}
}

func (s *stops) stop() { runtime.Stack(s.buf, true) }

// A process is a server's.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	file string
	url  *url.URL
}

type servers []*process

func startServers() (list servers, err error) {
	defer func() {
		if err != nil {
			list.end()
		}
	}()
	for i := range 2 {
		p := &process{file: fmt.Sprintf("/dev/shm/hedge-measure-%d-%d/page", os.Getpid(), i), cmd: exec.Command(os.Args[0])}
		if err := os.Mkdir(filepath.Dir(p.file), 0o700); err != nil {
			return list, err
		}
		list = append(list, p)
		p.cmd.Env = append(os.Environ(), serverEnv+"="+p.file)
		p.cmd.Stderr = os.Stderr
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			return list, err
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return list, err
		}
		if err := p.cmd.Start(); err != nil {
			return list, err
		}
		p.out = bufio.NewScanner(out)
		line, err := p.line()
		if err != nil {
			return list, err
		}
		if p.url, err = url.Parse(line); err != nil || p.url.Host == "" {
			return list, errors.New(line)
		}
	}
	return list, nil
}

func (s servers) end() {
	for _, p := range s {
		if p.cmd.Process != nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
		os.RemoveAll(filepath.Dir(p.file))
	}
}

func (p *process) line() (string, error) {
	if !p.out.Scan() {
		return "", errors.New("a server has ended")
	}
	return p.out.Text(), nil
}

// do has the server do something, and returns its answer.
func (p *process) do(command string) (string, error) {
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		return "", err
	}
	return p.line()
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// A hazard is what is done to a server.
type hazardKind struct {
	name string
	what string
	stop func(p *process) (stretch, error) // nil: nothing
}

const sigstop = 40 * time.Millisecond

var hazards = []hazardKind{
	{"announced", "SIGSTOP for 40 ms, announced", func(p *process) (stretch, error) {
		began := now()
		if _, err := p.do("drain"); err != nil {
			return stretch{}, err
		}
		if err := freeze(p); err != nil {
			return stretch{}, err
		}
		_, err := p.do("ok")
		return stretch{began, now()}, err
	}},
	{"silent", "SIGSTOP for 40 ms, silent", func(p *process) (stretch, error) {
		began := now()
		err := freeze(p)
		return stretch{began, now()}, err
	}},
	{"world", "the world stopped for some 7 ms", func(p *process) (s stretch, err error) {
		line, err := p.do("world")
		if err != nil {
			return s, err
		}
		_, err = fmt.Sscan(strings.TrimSpace(line), &s.begin, &s.end)
		return s, err
	}},
	{name: "none", what: "no hazard"},
}

func freeze(p *process) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(sigstop)
	return p.signal(syscall.SIGCONT)
}
