// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"bufio"
	"encoding/binary"
	"internal/taskrecord"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// writeTable writes n requests of 50 attributes, six of them causes, as CSV or as lines of JSON.
func writeTable(t *testing.T, n int, lines bool) string {
	name := filepath.Join(t.TempDir(), "table")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	names := []string{"latency"}
	for i := range 49 {
		names = append(names, "column"+strconv.Itoa(i))
	}
	names = append(names, "server")
	if !lines {
		for i, name := range names {
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteString(name)
		}
		w.WriteByte('\n')
	}
	r := rand.New(rand.NewPCG(1, 2))
	cells := make([]float64, 50)
	var b []byte
	for range n {
		cells[0] = 10 * math.Exp(r.NormFloat64()*0.1)
		for i := 1; i < len(cells); i++ {
			cells[i] = r.Float64()
			if i <= 6 && r.IntN(50+30*i) == 0 {
				cells[i] += float64(5 * i)
				cells[0] += float64(5 * i)
			} else if i < 20 && r.IntN(80) == 0 {
				cells[i] += 9
			}
		}
		b = b[:0]
		for i, name := range names {
			switch {
			case lines && i == 0:
				b = append(b, '{')
			case i > 0:
				b = append(b, ',')
			}
			if lines {
				b = append(append(append(b, '"'), name...), `":`...)
			}
			if i < len(cells) {
				b = strconv.AppendFloat(b, math.Round(cells[i]*1e4)/1e4, 'f', -1, 64)
				continue
			}
			if s := "s" + strconv.Itoa(r.IntN(20)); lines {
				b = append(strconv.AppendQuote(b, s), '}')
			} else {
				b = append(b, s...)
			}
		}
		w.Write(append(b, '\n'))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// writeJoined writes the records of n requests on two servers, of which the first one calls the other one, and
// those of 2 in 100 wait for a mutex there.
func writeJoined(t *testing.T, n int) (names []string) {
	f := newFleet(1, fleetNames[:2]...)
	var files []*os.File
	var buffers []*bufio.Writer
	var writers []*taskrecord.FileWriter
	for i, s := range f.servers {
		name := filepath.Join(t.TempDir(), s.Name)
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		files = append(files, file)
		buffers = append(buffers, bufio.NewWriterSize(file, 1<<20))
		writers = append(writers, taskrecord.NewFileWriter(buffers[i], s))
	}
	for i := range n {
		binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
		back := job{1, "write", testMs, 0, 0, "", nil, false, nil}
		if i%50 == 7 {
			back.mutex = f.around(40 * testMs)
		}
		f.do(&job{0, "GET /", testMs, 0, 0, "", []job{back}, false, nil}, taskrecord.SpanID{}, time.Duration(i)*time.Millisecond)
		for i, list := range f.files {
			for _, x := range list {
				if err := writers[i].Write(x); err != nil {
					t.Fatal(err)
				}
			}
			f.files[i] = list[:0]
		}
	}
	for i, b := range buffers {
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		files[i].Close()
	}
	return names
}

// TestScale measures what a large table takes: PMU_TEST_SCALE is the number of requests, and
// PMU_TEST_SCALE_FORM is csv, json, or joined for records of two servers. One at a time, since the memory is that of the process.
func TestScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PMU_TEST_SCALE"))
	if err != nil {
		t.Skip("it takes minutes and gigabytes: set PMU_TEST_SCALE to the number of requests")
	}
	form := os.Getenv("PMU_TEST_SCALE_FORM")
	var names []string
	want := "column3 makes the tail"
	if form == "joined" {
		names, want = writeJoined(t, n), "mutex on backup2 (write) makes the tail"
	} else {
		names = []string{writeTable(t, n, form == "json")}
	}
	size := int64(0)
	for _, name := range names {
		fi, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += fi.Size()
	}
	runtime.GC()
	start := time.Now()
	var before syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	status, out, errs := call(names...)
	took := time.Since(start)
	if status != 0 || errs != "" {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	t.Logf("%d requests, %.1f GB: %.1f s with %d CPUs, of which it took %.1f s, at most %.1f GB of memory", n, float64(size)/1e9, took.Seconds(), runtime.GOMAXPROCS(0),
		time.Duration(u.Utime.Nano()+u.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()).Seconds(), float64(u.Maxrss)/1e6)
	contains(t, "the report", out, want)
}
