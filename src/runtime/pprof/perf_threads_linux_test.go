// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A modelDir is the kernel's list of threads, where threads begin and end between reads
// and within.
type modelDir struct {
	r       *rand.Rand
	list    []int32 // the first one does not end
	last    int32   // the ID given last
	churn   int     // threads begin or end in so many of 100 steps
	signals int     // a signal is pending in so many of 100 steps, which ends a read
	room    int     // entries for which a read has room

	ends    int   // how many threads have ended
	entries int   // how many entries have been read
	pos     int   // of the next read
	hint    int32 // the thread that was next, or 0
}

func (d *modelDir) begin(n int) {
	for range n {
		d.last++
		d.list = append(d.list, d.last)
	}
}

func (d *modelDir) stop(n int) {
	for range min(n, len(d.list)-1) {
		i := 1 + d.r.IntN(len(d.list)-1)
		d.list = slices.Delete(d.list, i, i+1)
		d.ends++
	}
}

func (d *modelDir) step() {
	for d.r.IntN(100) < d.churn {
		if d.r.IntN(2) == 0 {
			d.begin(1 + d.r.IntN(3))
		} else {
			d.stop(1 + d.r.IntN(3))
		}
	}
}

func (d *modelDir) at(index int, tids []int32) (more []int32, full bool) {
	d.step()
	d.pos, d.hint = index, 0
	for i, n := index, 0; i < len(d.list); n++ {
		if full = n == d.room; full || n > 0 && d.r.IntN(100) < d.signals {
			d.hint = d.list[i]
			break
		}
		tid := d.list[i]
		tids = append(tids, tid)
		d.entries++
		d.pos++
		d.step()
		if i = slices.Index(d.list, tid); i < 0 {
			break // the thread has ended, so nothing follows it
		}
		i++
	}
	return tids, full
}

func (d *modelDir) next() bool {
	d.step()
	return slices.Contains(d.list, d.hint) || d.pos < len(d.list)
}

func (d *modelDir) alive(tid int32) bool {
	d.step()
	return slices.Contains(d.list, tid)
}

func (d *modelDir) count() int       { return len(d.list) }
func (d *modelDir) open(n int) error { return nil }
func (d *modelDir) close()           {}

// TestForeignListModel tests that no thread is missed, however threads begin and end while
// the list is read, and that no more of it is read than is needed.
func TestForeignListModel(t *testing.T) {
	var missed, givenUp int
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(1, seed))
		d := &modelDir{r: r, room: 8 + r.IntN(50), churn: r.IntN(30), signals: r.IntN(50)}
		d.begin(1 + r.IntN(100))
		var l threadList
		l.read(d, len(d.list), true, nil)
		wasOK := false
		was := slices.Clone(d.list) // there before the last read but one
		churn, signals := d.churn, d.signals
		for round := range 100 {
			d.churn, d.signals = churn, signals
			if r.IntN(3) == 0 {
				d.churn, d.signals = 0, 0
			}
			if r.IntN(10) == 0 {
				d.stop(r.IntN(len(d.list)))
			} else if r.IntN(2) == 0 {
				d.stop(r.IntN(4))
			}
			started := r.IntN(4)
			d.begin(started)
			before, known, ends := slices.Clone(d.list), slices.Clone(l.known), d.ends
			n, entries := l.n, d.entries
			fresh, ended, ok := l.read(d, len(before), false, nil)
			entries = d.entries - entries
			if !ok {
				if givenUp++; d.churn == 0 {
					t.Errorf("seed %d, round %d: the end was not reached", seed, round)
				}
				was = nil
			}

			for _, tid := range fresh {
				if contains(known, tid) || !contains(l.known, tid) {
					t.Errorf("seed %d, round %d: thread %d is new, known before: %v, known then: %v", seed, round, tid, contains(known, tid), contains(l.known, tid))
				}
			}
			if len(fresh)+len(known) != len(l.known) || !slices.IsSorted(l.known) {
				t.Fatalf("seed %d, round %d: %d threads were known, %d new, %d are known: %d", seed, round, len(known), len(fresh), len(l.known), l.known)
			}
			// Of those that are in the list, the ones known come first.
			first := slices.IndexFunc(d.list, func(tid int32) bool { return !contains(l.known, tid) })
			if first >= 0 {
				for _, tid := range d.list[first:] {
					if contains(l.known, tid) {
						t.Fatalf("seed %d, round %d: thread %d is known and not %d before it: %d", seed, round, tid, d.list[first], d.list)
					}
				}
			}
			for _, tid := range before {
				switch {
				case !ok || contains(l.known, tid) || !slices.Contains(d.list, tid):
				case d.ends == ends:
					t.Fatalf("seed %d, round %d: thread %d was missed", seed, round, tid)
				case slices.Contains(was, tid):
					missed++
				}
			}
			if ok {
				was = before
			}
			again := wasOK
			if wasOK = ok; d.churn > 0 || d.signals > 0 {
				continue
			}
			if l.n != len(d.list) {
				t.Errorf("seed %d, round %d: %d threads, want %d", seed, round, l.n, len(d.list))
			}
			if want := n+len(fresh) > len(d.list); ended != want {
				t.Errorf("seed %d, round %d: some have ended: %v, want %v", seed, round, ended, want)
			}
			if again && !ended && entries > len(fresh)+1+len(fresh)/(d.room-1) {
				t.Errorf("seed %d, round %d: %d entries were read for %d new threads", seed, round, entries, len(fresh))
			}
		}
	}
	// Each such one had a signal, an end of the thread that is next and one of a thread
	// before it come together in both reads.
	t.Logf("%d threads were missed twice, %d reads given up", missed, givenUp)
	if missed > 0 {
		t.Errorf("%d threads were missed twice", missed)
	}
	if givenUp > 3000 {
		t.Errorf("%d of 30000 reads were given up", givenUp)
	}
}

// TestForeignAskModel tests that asking for IDs finds each thread, also if it can be seen
// some time after it has got its ID only, and that the list is read where the number of
// threads says that asking is not enough.
func TestForeignAskModel(t *testing.T) {
	var asked, read int
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(2, seed))
		d := &modelDir{r: r, room: 100}
		d.begin(1 + r.IntN(100))
		var l threadList
		state := func() threadState { return threadState{len(d.list), int(d.last)} }
		l.update(d, state(), true, nil)
		slow := r.IntN(3)                  // whether it takes long to create a thread, and how long
		bad := r.IntN(10) == 0             // the IDs are of another namespace
		created := make([][]int32, slow+1) // the threads that can be seen in so many rounds
		for round := range 100 {
			for range r.IntN(6) {
				switch d.last++; r.IntN(5) {
				case 0: // a thread of another process
				case 1, 2:
					d.list = append(d.list, d.last)
				default:
					i := r.IntN(slow + 1)
					created[i] = append(created[i], d.last)
				}
			}
			if r.IntN(2) == 0 && slow < 2 && !bad {
				d.stop(r.IntN(4))
			}
			now := state()
			d.list = append(d.list, created[0]...)
			created = append(created[1:], nil)
			if slow > 0 || bad || r.IntN(5) > 0 { // if not, these can be seen after the count
				now = state()
			}
			if now == l.state {
				continue
			}
			if bad {
				now.last = r.IntN(2) * (10000 + r.IntN(100))
			}
			known, n, entries := slices.Clone(l.known), l.n, d.entries
			fresh, ended, ok := l.update(d, now, false, nil)
			if !ok {
				t.Fatalf("seed %d, round %d: not ok", seed, round)
			}
			for _, tid := range d.list {
				if !contains(l.known, tid) {
					t.Fatalf("seed %d, round %d: thread %d was missed", seed, round, tid)
				}
			}
			if len(fresh)+len(known) != len(l.known) || !slices.IsSorted(l.known) {
				t.Fatalf("seed %d, round %d: %d threads were known, %d new, %d are known: %d", seed, round, len(known), len(fresh), len(l.known), l.known)
			}
			if want := n+len(fresh) > len(d.list); l.n != len(d.list) || ended != want {
				t.Errorf("seed %d, round %d: %d threads, want %d; some have ended: %v, want %v", seed, round, l.n, len(d.list), ended, want)
			}
			switch asked++; {
			case d.entries == entries:
			case slow == 0 && !bad:
				t.Errorf("seed %d, round %d: the list was read", seed, round)
			default:
				read++
			}
		}
	}
	t.Logf("the list was read in %d of %d updates", read, asked)
}

// TestForeignChurn tests that each thread is found that is there before others are asked
// for or the list is read, and until then, while others come and go.
func TestForeignChurn(t *testing.T) {
	t.Run("list", func(t *testing.T) { testForeignChurn(t, false) })
	t.Run("ask", func(t *testing.T) { testForeignChurn(t, true) })
}

func testForeignChurn(t *testing.T, ask bool) {
	thread := func(end <-chan bool) (tid int32) {
		c := make(chan int32)
		go func() {
			runtime.LockOSThread() // and not unlocked, so the thread ends, too
			c <- int32(syscall.Gettid())
			<-end
		}()
		return <-c
	}
	ended := make(chan bool)
	close(ended)

	var wg sync.WaitGroup
	var done atomic.Bool
	var short atomic.Int64
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				thread(ended)
				short.Add(1)
				if rand.IntN(4) == 0 {
					time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				}
			}
		})
	}

	const idle = 100
	ends := make([]chan bool, idle)
	for i := range ends {
		ends[i] = make(chan bool)
		thread(ends[i])
	}
	var l threadList
	var dir taskDir
	find := func(all bool) bool {
		state := readThreadState()
		if state.last < l.state.last {
			all = true // see foreignThreads.due
		}
		if !ask {
			l.before = 0
		}
		_, _, ok := l.update(&dir, state, all, nil)
		return ok
	}
	find(true)
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	var retries, again int
	for i := range rounds {
		end := make(chan bool)
		tid := thread(end)
		for tries := 0; !find(false); tries++ {
			if tries == 10 {
				t.Fatal("the end of the list was not reached")
			}
			again++
		}
		if !contains(l.known, tid) {
			// A thread that ends while the list is read may hide others. That one
			// shows when threads are counted the next time.
			retries++
			find(false)
		}
		if !contains(l.known, tid) {
			t.Fatalf("round %d: thread %d was not found", i, tid)
		}
		old := &ends[rand.IntN(idle)]
		close(*old)
		*old = end
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d threads came and went; %d of %d were found by the second look; %d lists were given up", short.Load(), retries, rounds, again)

	waitFor(t, "only threads are left that have been found", func() bool {
		find(ask) // as asking may miss one; see threadList
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if tid, _ := strconv.Atoi(e.Name()); !contains(l.known, int32(tid)) {
				return false
			}
		}
		return l.n == len(entries)
	})
	all := countThreads()
	for _, end := range ends {
		close(end)
	}
	waitFor(t, "threads have ended", func() bool { return countThreads() <= all-idle*9/10 })
}
