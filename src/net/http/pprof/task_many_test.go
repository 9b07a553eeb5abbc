// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"internal/testenv"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"runtime/task"
	"strings"
	"sync"
	"testing"
	"time"
)

// What a page costs is bounded, and so is the memory of a stream, however many records there are.

const manyEnv = "PMU_TEST_MANY" // is set in the process of TestTasksBounded

const manyKind = "GET /cart/{id}"

// manyTasks ends n slow tasks, which have waited for a mutex and slept, and fills rings that are large
// enough.
func manyTasks(tb testing.TB, n int) {
	if err := task.Start(task.Config{Name: "many", Memory: n << 12, Slow: map[string]time.Duration{manyKind: 1}}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(task.Stop)
	var mu sync.Mutex
	var wg sync.WaitGroup
	const goroutines = 200
	for g := range goroutines {
		wg.Go(func() {
			for i := range n / goroutines {
				_, t := task.New(context.Background(), manyKind)
				t.Note("status", "200")
				r := t.Region("load")
				mu.Lock()
				if i%100 == 0 && g%100 == 0 {
					time.Sleep(time.Millisecond)
				}
				mu.Unlock()
				r.End()
				time.Sleep(50 * time.Microsecond)
				t.End()
			}
		})
	}
	wg.Wait()
}

// TestTasksBounded runs in a process of its own, so that the rings are as large as they must be.
func TestTasksBounded(t *testing.T) {
	if os.Getenv(manyEnv) == "" {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestTasksBounded$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(cmd.Environ(), manyEnv+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestTasksBounded") {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	runtime.GOMAXPROCS(min(2, runtime.GOMAXPROCS(0))) // a P has its own rings
	n := 100_000
	if race.Enabled || testing.Short() && runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		n = 10_000
	}
	manyTasks(t, n)
	if s := taskrecord.NewRingReader(true).Stats(); s.Waiting != uint64(n) {
		t.Fatalf("%+v, want %d records", s, n)
	}
	unpacked := 0
	tasks.newest = func(onlySlow bool, most int, want func(*taskrecord.Record) bool, yield func(*taskrecord.Record) bool) (chosen, gone uint64) {
		return newestTasks(onlySlow, most, want, func(t *taskrecord.Record) bool {
			unpacked++
			return yield(t)
		})
	}
	page := boundedPage(t, "", &unpacked)
	if want := fmt.Sprintf("Looked at %d of %d slow tasks, those that ended last.", unpacked, n); !strings.Contains(page, want) {
		t.Errorf("no %q in\n%s", want, page)
	}
	boundedPage(t, "?kind="+strings.ReplaceAll(manyKind, " ", "+"), &unpacked)
	for _, link := range regexp.MustCompile(`\?span=\w+`).FindAllString(page, 3) {
		boundedPage(t, link, &unpacked)
	}
	var streams sync.WaitGroup
	for _, f := range taskFormats {
		streams.Go(func() { boundedStream(t, f.name, n) })
	}
	streams.Wait()
}

// boundedPage gets a page, and checks that few records were unpacked for it, and that all that was
// allocated meanwhile is less than the heap may grow by.
func boundedPage(t *testing.T, query string, unpacked *int) string {
	*unpacked = 0
	var before, after runtime.MemStats
	begin := time.Now()
	runtime.ReadMemStats(&before)
	w := taskGet(query)
	runtime.ReadMemStats(&after)
	t.Logf("%q: %v, %d records of %d bytes in all, %d bytes of page", query, time.Since(begin), *unpacked, after.TotalAlloc-before.TotalAlloc, w.Body.Len())
	if w.Code != http.StatusOK {
		t.Errorf("%q: %d: %s", query, w.Code, w.Body)
	}
	if most := maxSlowTasks + maxTraceTasks; *unpacked > most || *unpacked == 0 {
		t.Errorf("%q: %d records are unpacked, want %d at most", query, *unpacked, most)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 16<<20 && !race.Enabled {
		t.Errorf("%q: %d bytes are allocated, want less than 16 MB", query, bytes)
	}
	return w.Body.String()
}

// A heapReader is a reader that notes how large the heap is after some records, without garbage.
type heapReader struct {
	taskReader
	n    int
	at   [2]int
	heap [2]uint64
}

// heapMeasured is held while a heapReader looks at the heap, so that others do not grow it.
var heapMeasured sync.RWMutex

func (r *heapReader) Next() *taskrecord.Record {
	r.n++
	for i, n := range r.at {
		if r.n == n {
			heapMeasured.Lock()
			var s runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&s)
			r.heap[i] = s.HeapAlloc
			heapMeasured.Unlock()
		}
	}
	heapMeasured.RLock()
	defer heapMeasured.RUnlock()
	return r.taskReader.Next()
}

// A nowhere is the answer to a client that is quick.
type nowhere struct{ header http.Header }

func (w nowhere) Header() http.Header         { return w.header }
func (w nowhere) WriteHeader(int)             {}
func (w nowhere) Write(p []byte) (int, error) { return len(p), nil }

// boundedStream gets all n records, and checks that the heap is not larger after most of them than
// after a few.
func boundedStream(t *testing.T, format string, n int) {
	r := &heapReader{taskReader: taskrecord.NewRingReader(true), at: [2]int{n / 20, n - n/20}}
	c := &taskCollector{req: &taskRequest{}, ctx: t.Context(), from: r}
	w := nowhere{make(http.Header)}
	i := 0
	for taskFormats[i].name != format {
		i++
	}
	if err := taskFormats[i].write(w, c.records(), c.req); err != nil {
		t.Error(err)
	}
	t.Logf("%s: %d records; the heap has %d bytes after %d and %d after %d", format, c.n, r.heap[0], r.at[0], r.heap[1], r.at[1])
	if c.n != uint64(n) {
		t.Errorf("%s: %d records, want %d", format, c.n, n)
	}
	if r.heap[1] > r.heap[0]+1<<20 {
		t.Errorf("%s: the heap has grown from %d to %d bytes in %d records", format, r.heap[0], r.heap[1], r.at[1]-r.at[0])
	}
}

// BenchmarkTasksPage makes the page while rings have 100,000 records of slow tasks.
func BenchmarkTasksPage(b *testing.B) {
	const n = 100_000
	manyTasks(b, n)
	if s := taskrecord.NewRingReader(true).Stats(); s.Waiting < n {
		b.Skipf("the rings are too small: %+v. Run this benchmark alone, with -run ^$", s)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		Tasks(w, httptest.NewRequest("GET", "/debug/pprof/tasks", nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
