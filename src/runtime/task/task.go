// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package task says what a request has cost, where it waited, and why it was slow.
//
// A task is what users call a request, a job or a query: the work of a goroutine from
// [New] to [Task.End], and of the goroutines that it starts meanwhile.
//
//	ctx, t := task.New(ctx, "GET /cart/{id}")
//	defer t.End()
//
// Nothing is recorded before [Start]; until then New returns a nil task, and all methods
// may be called on that. From then on each task has an account that is exact: the time
// of its goroutines by what they were in, as [pprof.GoroutineTime] has it, and the
// counts of [Config.Events]. What they waited for is kept too, as it
// happens. So when a task was slow its record says why, although nobody had asked
// beforehand.
//
// Records go into rings of fixed size, from which a [Reader] takes them, and the HTTP page
// /debug/pprof/tasks of [net/http/pprof], which also wraps servers and clients
// (TaskHandler and TaskTransport). The command "go tool pmu tasks" reads that page, and files of
// records.
package task

import (
	"context"
	"encoding/binary"
	"internal/runtime/perf"
	"internal/taskrecord"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for linkname
)

// A Task is a task that has been begun. Its methods may be called by several goroutines
// at once, and on a nil *Task, which is one that is not recorded.
type Task struct {
	ctx context.Context // that it was made from

	id     perf.TaskID        // package runtime's
	epoch  *epoch             // in which it began, or nil
	trace  taskrecord.TraceID // as kind, and so are parent, sampled and random
	span   taskrecord.SpanID
	parent taskrecord.SpanID
	kind   *kind // written as lockOpen says
	up     *Task // parent on this server
	remote string
	client bool // makes a call, and no goroutine works for it
	serves bool // works on a request from elsewhere
	random bool // the trace's ID is known to be random; see taskrecord.Traceparent

	sampled sampled // W3C's flag
	adopted bool    // of a call: its traceparent is others'; see adopt

	state atomic.Uint32 // taskOpen, taskEnded, or taskChanging

	traced *tracedTask // in the execution trace, or nil

	local *taskrecord.Local // the clock of the request on this server, or nil
	rest  string            // of the header tracestate: others' members

	mu      sync.Mutex // protects what follows
	wants   bool       // the request came with a clock
	named   bool       // by the program; see nameTask
	flags   taskrecord.Flags
	first   *taskrecord.Clock // at the start, or nil
	last    *taskrecord.Clock // that was sent with the answer, or nil; written as lockOpen says
	details *details
	goid    uint64
}

const (
	taskOpen     = iota
	taskEnded    // or its end has begun
	taskChanging // it is open, and mu held by who changes what is read without mu at the end
)

// hasEnded reports whether the end has begun.
func (t *Task) hasEnded() bool { return t.state.Load() == taskEnded }

// lockOpen locks mu and keeps the task from ending, until unlockOpen. It does not, and reports
// false, if the task has ended. What is written meanwhile can be read with mu, and without when the
// task has ended: so its end, which most tasks come to with nobody in the way, need not lock.
func (t *Task) lockOpen() bool {
	t.mu.Lock()
	if !t.state.CompareAndSwap(taskOpen, taskChanging) {
		t.mu.Unlock()
		return false
	}
	return true
}

func (t *Task) unlockOpen() {
	t.state.Store(taskOpen)
	t.mu.Unlock()
}

// New begins a task of a kind: a child of the task in ctx, if there is one. The calling
// goroutine works for it until End, which it should call itself; so do goroutines that it
// starts meanwhile, until they or the task end. Their samples have the kind as label
// "task", unless the goroutine's labels, which New leaves alone, have one of that name. Samples of
// events wait until the task has ended, and have label "slow" then: "yes" if it was, or one that it is
// a child of, else "no", or "unknown" if the profile ended before. Of some requests, slow and usual
// ones, they have the request's ID as label "trace".
//
// In the goroutine profile, and that of leaked goroutines, a goroutine that outlives its task has the
// kind of that as label "began", and some have the request's ID as label "trace".
//
// Kinds are few, like patterns of paths. If there are more than 1,000, the others are
// recorded as kind "other".
//
// A task that is never ended stays open. While 10,000 are, New records no more of them, and
// returns ctx and nil: [Stats] counts these.
//
// With the execution tracer on, the task is one of [runtime/trace] too.
func New(ctx context.Context, kind string) (context.Context, *Task) {
	return begin(ctx, kind, "", nil, nil, false)
}

// NewClient begins a task that is a call of another server, remote: a child of the
// task in ctx. If there is none, NewClient returns ctx and nil. The calling goroutine goes on to
// work for the task in ctx. The call may end on any goroutine.
func NewClient(ctx context.Context, kind, remote string) (context.Context, *Task) {
	if FromContext(ctx) == nil {
		return ctx, nil
	}
	return begin(ctx, kind, remote, nil, nil, true)
}

// begin is New and NewClient. c is whose request the task works on, if that is not in ctx, and h the header
// of a call; both may be nil.
func begin(ctx context.Context, name, remote string, c *caller, h Header, client bool) (context.Context, *Task) {
	r := recording.Load()
	if r == nil {
		return ctx, nil
	}
	// Methods of the context and the header, which may panic, are called before anything is taken
	// that has to be given back.
	t := &Task{ctx: ctx, kind: kindOf(name, client), remote: remote, client: client}
	if c == nil {
		t.up, c = parents(ctx)
	}
	binary.LittleEndian.PutUint64(t.span[:], random())
	if up := t.up; up != nil {
		id := up.identity()
		t.trace, t.random, t.sampled = id.trace, id.random, id.sampled
		t.parent, t.local, t.rest = up.span, up.local, up.rest
		if h != nil {
			t.adopt(h)
		}
	} else {
		if r.config.Server != 0 {
			t.newClock()
		}
		var clock *taskrecord.Clock
		if c != nil {
			t.follow(c)
			clock = c.clock
		}
		if t.trace.IsZero() {
			binary.LittleEndian.PutUint64(t.trace[:8], random())
			binary.LittleEndian.PutUint64(t.trace[8:], random())
			t.random = true
		}
		if t.local != nil {
			t.local.Init(r.config.Server, &clockCounts[t.trace[15]])
			if clock != nil {
				t.local.Merge(clock)
			}
		} else if clock != nil { // it passes through
			t.newClock()
			t.local.Init(0, nil)
			t.local.Merge(clock)
		}
	}
	if client {
		t.flags |= taskrecord.Client
	}
	if t.local != nil {
		if t.first == nil {
			t.first = new(taskrecord.Clock)
		}
		*t.first = t.local.Event()
	}
	if trace.IsEnabled() {
		t.traced = new(tracedTask)
		t.ctx, t.traced.task = trace.NewTask(ctx, name)
	}
	shard := shard()
	if !r.open.take(shard) {
		r.tooMany.Add(1)
		if t.traced != nil {
			t.traced.end()
		}
		return ctx, nil
	}
	var up perf.TaskID
	for u := t.up; u != nil; u = u.up {
		if !u.client {
			up = u.id
			break
		}
	}
	t.epoch = counting.Load().present()
	set, slots := t.epoch.set()
	t.id, t.goid = runtime_perfTaskNew(up, t.spanWord(), t.kind.id, set, slots, !client)
	t.kind.opened(shard, 1)
	return (*taskContext)(t), t
}

// newClock makes a clock for the request, whose first task here t is. It is apart from the
// task, which is half as large without.
func (t *Task) newClock() {
	c := new(struct {
		local taskrecord.Local
		first taskrecord.Clock
	})
	t.local, t.first = &c.local, &c.first
}

// random returns a number that is not 0.
func random() uint64 {
	for {
		if n := runtime_rand(); n != 0 {
			return n
		}
	}
}

func (t *Task) spanWord() uint64 { return binary.LittleEndian.Uint64(t.span[:]) }

// Trace returns the ID of the request that the task works for: 32 hexadecimal digits (W3C Trace
// Context, trace-id). That of a nil task is empty.
func (t *Task) Trace() string {
	if t == nil {
		return ""
	}
	return t.identity().trace.String()
}

// Span returns the task's own ID: 16 hexadecimal digits (W3C Trace Context, parent-id). That of a
// nil task is empty.
func (t *Task) Span() string {
	if t == nil {
		return ""
	}
	return t.span.String()
}

// currentKind returns the kind that the task has at the moment.
func (t *Task) currentKind() *kind {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kind
}

// Fail notes that the task ends in an error.
func (t *Task) Fail() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.flags |= taskrecord.Failed
	t.mu.Unlock()
}

// Usage returns what the task's goroutines, and those of its children on this server, have
// used up to now.
//
// It is exact: time and counts of goroutines that run elsewhere are included up to this
// moment. (That their threads may be without a CPU is not known then; see
// [pprof.GoroutineTime].) It returns false if the task has ended.
func (t *Task) Usage() (u Usage, ok bool) {
	var p perf.TaskUsage
	if t == nil || t.hasEnded() || !runtime_perfTaskUsage(t.id, &p) {
		return Usage{}, false
	}
	*pprof_timeUsage(&u.GoroutineTime) = p.GoroutineTime
	u.Wall = time.Duration(p.Wall)
	u.Goroutines, u.Working = int64(p.Goroutines), int64(p.Working)
	if e := t.epoch.present(); e != nil {
		u.Events, u.Counts = e.names, e.values(p.Counts[:])
	}
	return u, true
}

// End ends the task. If the calling goroutine works for it, it works for what it worked
// for before New from now on. Goroutines of the task that go on are counted. Only the
// first call counts.
//
// If many goroutines work for the task, what they have used is asked after End has returned,
// and the record comes later. [Stop] waits for that.
func (t *Task) End() {
	if t != nil {
		endTask(t, "", "", false)
	}
}

// endTask is End, with notes status and context of those that are not empty. They are made only
// if the task is recorded, unlike those before the end, at which that is not known.
//
//go:linkname endTask net/http/pprof.endTask
func endTask(t *Task, status, context string, failed bool) {
	if !t.state.CompareAndSwap(taskOpen, taskEnded) {
		t.mu.Lock() // nobody changes the task now
		first := t.state.CompareAndSwap(taskOpen, taskEnded)
		t.mu.Unlock()
		if !first {
			return
		}
	}
	k := t.kind // stays from now on
	if t.traced != nil {
		t.traced.end()
	}
	r := lastRecording.Load()
	threshold := k.threshold.Load()
	limit := threshold
	if limit == 0 {
		limit = 1<<63 - 1
	}
	var e ended
	u := &e.u
	u.Trace = t.trace
	var ok bool
	if ok, e.rest = runtime_perfTaskEnd(t.id, u, limit); !ok {
		return
	}
	if p := t.epoch.present(); p != nil {
		e.set = p.eventSet
	}
	var recorded bool
	if e.slow, recorded = k.slow(u, threshold); recorded {
		e.recorded |= taskrecord.Slow
	} else if e.slow {
		r.overBudget.Add(1)
		limit = 1<<63 - 1
		if e.rest == 0 {
			runtime_perfTaskGiveUp(t.id, u.Outlives > 0)
		}
	}
	if r.samples(t.trace) {
		e.recorded |= taskrecord.Sampled
	}
	e.shard, e.failed, e.threshold, e.limit = shard(), failed, threshold, limit
	if e.rest == 0 {
		r.open.give(e.shard)
	}
	if e.recorded == 0 || status == "" && context == "" {
		e.finish(t, r, k)
		return
	}
	e.finishNoted(t, r, k, status, context)
}

// An ended is what is known of a task at its end.
type ended struct {
	u         perf.TaskUsage
	set       *eventSet // of the counts
	shard     int
	recorded  taskrecord.Flags
	slow      bool // whether or not it is recorded
	failed    bool
	threshold int64
	limit     int64   // threshold, or the largest number if it is none or not to be recorded
	rest      uintptr // of perfTaskEndRest, or 0
}

// finishNoted is finish, with the notes of those that are not empty. A Filter that panics does so
// to the caller, who may recover: the task has ended anyway.
func (e *ended) finishNoted(t *Task, r *recorder, k *kind, status, context string) {
	defer e.finish(t, r, k)
	if status != "" {
		t.note("status", status, true)
	}
	if context != "" {
		t.note("context", context, true)
	}
}

// finish adds the task to those that have ended. It calls nothing of the program.
func (e *ended) finish(t *Task, r *recorder, k *kind) {
	if e.rest != 0 {
		e.endLate(t, r, k)
		return
	}
	u := &e.u
	t.mu.Lock()
	t.flags |= e.recorded
	if e.failed {
		t.flags |= taskrecord.Failed
	}
	if e.set == nil && t.epoch != nil {
		t.flags |= taskrecord.EpochChange
		r.changes.Add(1)
	} else if u.Unread > 0 || t.epoch == nil && len(r.events) > 0 {
		t.flags |= taskrecord.Uncounted // or begun between two epochs
	}
	flags := t.flags
	details := t.details
	t.details = nil
	t.mu.Unlock()
	if t.up != nil {
		call := flags
		if e.slow {
			call |= taskrecord.Slow
		}
		t.up.call(t, u, call)
	}
	if e.recorded != 0 {
		t.record(r, e.shard, u, e.set, flags, details, e.threshold)
	}
	k.observe(e.shard, u, e.set, flags, e.slow)
	if u.Outlives > 0 {
		outlive(t.id, flags&taskrecord.Slow != 0)
	} else if flags&taskrecord.Slow != 0 {
		runtime_perfTaskGiveUp(t.id, false)
	}
	details.release()
	if flags&taskrecord.Slow != 0 {
		flightRecord(t)
	}
}

// record puts a task that has ended into the rings.
func (t *Task) record(r *recorder, shard int, u *perf.TaskUsage, set *eventSet, flags taskrecord.Flags, details *details, threshold int64) {
	last := t.last
	if last == nil && t.local != nil {
		end := t.local.Event()
		last = &end
	}
	if flags&taskrecord.Slow != 0 {
		var usual usual
		t.kind.readUsual(&usual, set)
		r.push(t, shard, last, u, set, flags, details, threshold, &usual)
		return
	}
	r.push(t, shard, last, u, set, flags, details, threshold, nil)
}
