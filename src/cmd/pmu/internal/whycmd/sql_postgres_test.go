// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"bufio"
	"bytes"
	"cmd/pmu/internal/why"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This file runs the SQL of why -sql on a PostgreSQL of its own, and compares it with the report.

// A postgres is a server that the test has started.
type postgres struct{ psql, dir string }

// startPostgres starts a server in a temporary directory, on a socket there.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	missing := func(format string, args ...any) {
		t.Helper()
		if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "postgres") {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	bin := ""
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // Debian has them in no PATH
	for _, dir := range append(places, filepath.SplitList(os.Getenv("PATH"))...) {
		if exec.Command(filepath.Join(dir, "postgres"), "--version").Run() == nil && exec.Command(filepath.Join(dir, "initdb"), "--version").Run() == nil {
			bin = dir
		}
	}
	psql, err := exec.LookPath("psql")
	if bin == "" || err != nil {
		missing("there is no PostgreSQL: install Debian's package postgresql")
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
			missing("PostgreSQL does not run as root, and there is no user postgres: %v", err)
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
	p := &postgres{psql, dir}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if out, err := p.command("-c", "SELECT version()").CombinedOutput(); err == nil {
			t.Logf("%s", bytes.Fields(out)[2])
			return p
		} else if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v\n%s", err, out)
		}
	}
}

func (p *postgres) command(args ...string) *exec.Cmd {
	return exec.Command(p.psql, append([]string{"-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", p.dir, "-U", "why", "postgres"}, args...)...)
}

// load loads lines of JSON as the script says.
func (p *postgres) load(t *testing.T, file, script string) {
	t.Helper()
	start := time.Now()
	var setup []string
	for _, line := range strings.SplitAfter(script, "\n") {
		if s, ok := strings.CutPrefix(line, "--\t"); ok && (strings.HasPrefix(s, "CREATE TABLE") || strings.HasPrefix(s, `\copy`) || strings.HasPrefix(s, "ANALYZE")) {
			setup = append(setup, strings.ReplaceAll(s, "'FILE'", "'"+file+"'"))
		}
	}
	if len(setup) != 3 {
		t.Fatalf("the script says how to load: %q", setup)
	}
	cmd := p.command("-f", "-")
	cmd.Stdin = strings.NewReader("DROP TABLE IF EXISTS requests;\n" + strings.Join(setup, ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("loading: %v\n%s", err, out)
	}
	t.Logf("loaded in %.1f s", time.Since(start).Seconds())
}

// run runs the script and returns its tables.
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

// analyze returns the report of a file, and the script.
func analyze(t *testing.T, p float64, kind, file string) (*why.Report, string) {
	t.Helper()
	percentile := strconv.FormatFloat(p, 'g', -1, 64)
	status, sql, errs := call("-sql", "-p", percentile, "-kind", kind, file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	start := time.Now()
	in := input{latency: "latency", stderr: io.Discard, progress: &progress{}}
	in.Max = 1 << 40
	in.sql = true // rows are in the order of lines, which decides between requests that took as long
	in.read(file)
	if err := in.joined.rows(&in.b, kind, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	table := in.b.Table(in.unit)
	if _, err := selectKind(table, kind, io.Discard); err != nil {
		t.Fatal(err)
	}
	read := time.Now()
	r, err := why.Analyze(table, why.Params{P: p, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, %d columns: read in %.1f s, analyzed in %.1f s", r.Requests, len(table.Columns), read.Sub(start).Seconds(), time.Since(read).Seconds())
	return r, sql
}

// compare compares the tables of the script with a report, and returns the differences.
func compare(r *why.Report, events, pairs [][]string) (diffs []string) {
	same := func(what, got string, want float64) {
		v, err := strconv.ParseFloat(got, 64)
		if got == "" {
			v, err = nan, nil
		}
		if math.IsNaN(v) && math.IsNaN(want) {
			return
		}
		if err != nil || !(math.Abs(v-want) <= 1e-9*max(math.Abs(v), math.Abs(want))) {
			diffs = append(diffs, fmt.Sprintf("%s is %s, and %v in the report", what, got, want))
		}
	}
	exact := func(what, got string, want any) {
		if got != fmt.Sprint(want) {
			diffs = append(diffs, fmt.Sprintf("%s is %q, and %q in the report", what, got, fmt.Sprint(want)))
		}
	}
	exact("the number of events", strconv.Itoa(len(events)), len(r.Impacts))
	last := math.Inf(1)
	for _, row := range events {
		// Those that are alike to 1 % are in the report by their intervals, which SQL doesn't have.
		adjusted, _ := strconv.ParseFloat(row[6], 64)
		if rank := math.Round(100 * adjusted); rank > last {
			diffs = append(diffs, row[0]+" is below one with a lower impact")
		} else {
			last = rank
		}
		i := slices.IndexFunc(r.Impacts, func(e why.Impact) bool { return e.Event == row[0] })
		if i < 0 {
			diffs = append(diffs, fmt.Sprintf("event %q is not in the report", row[0]))
			continue
		}
		e := r.Impacts[i]
		exact(e.Event+": n", row[1], e.N)
		exact(e.Event+": high", row[2], e.High)
		if v, err := strconv.ParseFloat(row[3], 64); row[3] != "" && (err != nil || v != e.Threshold) || row[3] == "" && e.Threshold == e.Threshold {
			diffs = append(diffs, fmt.Sprintf("%s: threshold is %s, and %v in the report", e.Event, row[3], e.Threshold))
		}
		same(e.Event+": raw", row[4], e.Raw)
		same(e.Event+": own", row[5], e.Own)
		same(e.Event+": adjusted", row[6], e.Adjusted)
		exact(e.Event+": cause", row[7], e.Cause)
		same(e.Event+": jaccard", row[8], e.Jaccard)
		exact(e.Event+": remark", row[9], e.Remark)
	}
	exact("the number of pairs", strconv.Itoa(len(pairs)), len(r.Pairs))
	for i := range min(len(pairs), len(r.Pairs)) {
		row, e := pairs[i], r.Pairs[i]
		exact("a pair", row[0]+" and "+row[1], e.Events[0]+" and "+e.Events[1])
		same("its Jaccard", row[2], e.Jaccard)
	}
	return diffs
}

// sqlRequests is how many requests the test has: PMU_TEST_SQL, or enough for a test.
func sqlRequests(t *testing.T) int {
	s := os.Getenv("PMU_TEST_SQL")
	switch {
	case s == "" && os.Getenv("CI") != "":
		return 100_000
	case s == "":
		return 30_000
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("PMU_TEST_SQL: %v", err)
	}
	return n
}

// writeRequests writes n lines of a table in which causes, decoys, parents and children are
// planted, and events that are recorded in some requests only. Latencies are multiples of grain,
// so that many are alike.
func writeRequests(t *testing.T, n int, grain float64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "requests.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(5, 6))
	hit := func(part float64) bool { return r.Float64() < part }
	for i := range n {
		latency := 10 * math.Exp(r.NormFloat64()*0.1)
		cell := func(name string, v float64) {
			fmt.Fprintf(w, `,%q:%s`, name, strconv.FormatFloat(v, 'g', -1, 64))
		}
		cause := func(part, ms float64) float64 {
			v := r.Float64()
			if hit(part) {
				v += ms
				latency += ms
			}
			return v
		}
		// What causes delay, and what follows it by the rules.
		mutex, disk, dns, size := cause(0.012, 40), cause(0.02, 25), cause(0.004, 80), cause(0.008, 30)
		instructions := 1e6 + 1e4*r.NormFloat64()
		if hit(0.01) {
			instructions *= 8
			latency += 35
		}
		misses := instructions / 1e4 * (1 + 0.1*r.Float64())
		if hit(0.003) {
			misses *= 20
			latency += 15
		}
		cycles := instructions*1.3 + misses*2000 + 1e5*r.Float64()
		sampled := cause(0.02, 20) // recorded in 5 % at random
		slow := r.Float64()        // recorded in slow requests, mostly
		if latency > 30 && hit(0.3) {
			slow += 5
			latency += 12
		}
		latency = grain * math.Round(latency/grain)
		fmt.Fprintf(w, `{"latency":%v`, latency)
		if i%1000 == 999 {
			fmt.Fprintf(w, `,"latency":null`)
		}
		cell("mutex", math.Round(mutex*1000)/1000)
		cell("disk", math.Round(disk*1000)/1000)
		cell("dns 'quoted' \\ ; --", dns)
		fmt.Fprintf(w, `,"request":{"size":%v,"first":%v}`, math.Round(size*100), hit(0.1))
		cell("instructions", math.Round(instructions))
		cell("branches", math.Round(instructions/5))
		cell("cache-misses", math.Round(misses))
		cell("cycles", math.Round(cycles))
		cell("echo", math.Round((mutex+0.1*r.Float64())*1000)/1000) // with mutex
		if hit(0.05) {
			cell("sampled", sampled)
		}
		if latency > 20 && hit(0.8) || hit(0.02) {
			cell("slow only", slow)
		}
		if hit(0.9) {
			fmt.Fprintf(w, `,"text":"%v"`, r.IntN(30))
		}
		if hit(0.5) {
			cell("half", cause(0, 0))
		}
		if hit(0.0005) {
			cell("rare", 1)
		}
		cell("constant", 7)
		for d := range 4 {
			v := r.Float64()
			if hit(0.01) {
				v += 10
			}
			cell(fmt.Sprintf("decoy%d", d), math.Round(v*100)/100)
		}
		fmt.Fprintf(w, `,"server":"s%d","kind":"%s"}`+"\n", r.IntN(5), []string{"a", "a", "a", "b's"}[r.IntN(4)])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// writeTasks writes n records of tasks.
func writeTasks(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tasks.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(7, 8))
	hit := func(part float64) bool { return r.Float64() < part }
	server := &taskrecord.Server{ID: 1, Name: "s", Events: []string{"page-faults", "cycles"}}
	var line []byte
	for i := range n {
		x := &taskrecord.Record{Server: server, Kind: "GET /it's", Trace: taskrecord.TraceID{byte(i), byte(i >> 8), byte(i >> 16), 1}, Span: taskrecord.SpanID{1},
			Goroutines: 1 + int64(r.IntN(3)), Events: server.Events}
		add := func(p pprof.TimePart, ms float64) {
			x.Parts[p] += time.Duration(ms * 1e6)
			x.Wall += time.Duration(ms * 1e6)
		}
		add(pprof.TimeRunning, 1+r.Float64())
		add(pprof.TimeNetwork, 5+r.NormFloat64()*0.3)
		add(pprof.TimeRunnable, r.Float64()*0.1)
		faults := uint64(r.IntN(10))
		if hit(0.02) {
			add(pprof.TimeMutex, 20+5*r.Float64())
			add(pprof.TimeRunnable, 0.2)
			if hit(0.7) {
				faults += 3000 // which take less time than the impact of their requests
				add(pprof.TimeRunning, 3)
			}
		}
		if hit(0.01) {
			faults += 5000
			add(pprof.TimeRunning, 8)
		}
		running := x.Parts[pprof.TimeRunning]
		x.Count = []pprof.CounterValue{{Value: faults, Enabled: running, Running: running}, {Value: uint64(running) * 3, Enabled: running, Running: running}}
		if hit(0.3) {
			x.Count[1].Running /= 2 // it had to share a counter
		}
		switch {
		case hit(0.05):
			x.Flags |= taskrecord.Uncounted
		case hit(0.05):
			x.Count = nil
		case hit(0.05):
			x.Count, x.Events = x.Count[:1], x.Events[:1]
		}
		if hit(0.6) {
			d := time.Duration(r.Float64() * 1e6)
			if hit(0.05) {
				d += 10 * time.Millisecond
				x.Wall += d
			}
			x.Regions = append(x.Regions, taskrecord.RegionSum{Name: "price", N: 2, Wall: d})
			if hit(0.2) {
				x.Regions = append(x.Regions, taskrecord.RegionSum{Name: "it's \\ <b>", N: 1, Wall: d / 2}, taskrecord.RegionSum{Name: "price", N: 1, Wall: d / 3})
			}
		}
		for range r.IntN(3) {
			d := time.Duration(r.Float64() * 3e6)
			if hit(0.01) {
				d += 15 * time.Millisecond
				x.Wall += d
			}
			x.Calls = append(x.Calls, taskrecord.Call{Kind: "GET stock", Wall: d})
		}
		if x.Goroutines > 1 && hit(0.3) { // another one runs, for which it does not wait
			x.Ender = taskrecord.Ender{Goroutine: 1, Parts: x.Parts}
			x.Parts[pprof.TimeRunning] += time.Duration(r.Float64() * 1e6)
			if hit(0.1) {
				x.Parts[pprof.TimeRunning] += 40 * time.Millisecond
			}
		}
		items := r.IntN(20)
		if hit(0.01) {
			items += 500
			x.Wall += 12 * time.Millisecond
		}
		x.Notes = []taskrecord.Note{{Key: "status", Value: "200"}, {Key: "cart", Value: []string{"a", "b"}[r.IntN(2)]}}
		if hit(0.8) {
			x.Notes = append(x.Notes, taskrecord.Note{Key: "items", Value: strconv.Itoa(items)})
		}
		if hit(0.01) {
			x.Notes = append(x.Notes, taskrecord.Note{Key: "items", Value: "many"}, taskrecord.Note{Key: "items", Value: "1.5e1"})
		}
		switch {
		case hit(0.1):
			x.Kind = "POST /"
		case hit(0.02):
			x.Flags |= taskrecord.Client
		case hit(0.01):
			x.Span = taskrecord.SpanID{}
		}
		if x.Wall > 20*time.Millisecond && hit(0.5) {
			x.Flags |= taskrecord.Slow
		}
		if x.Wall > 15*time.Millisecond && hit(0.2) {
			x.Flags |= taskrecord.Early
		}
		if x.Flags&taskrecord.Slow == 0 && hit(0.9) || hit(0.1) {
			x.Flags |= taskrecord.Sampled
		}
		x.Wall = x.Wall.Round(10 * time.Microsecond) // there are ties
		line = append(taskrecord.AppendJSON(line[:0], x), '\n')
		w.Write(line)
		if hit(0.01) { // once more
			w.Write(line)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// postgresTests are the tables that the SQL is tested with.
var postgresTests = []struct {
	name  string
	p     float64
	kind  string
	write func(*testing.T, int) string
}{
	{"table", 0.99, "a", func(t *testing.T, n int) string { return writeRequests(t, n, 0.0625) }},
	{"p90", 0.9, "b's", func(t *testing.T, n int) string { return writeRequests(t, n, 0.25) }},
	{"ties", 0.95, "a", func(t *testing.T, n int) string { return writeRequests(t, n, 8) }},
	{"tasks", 0.99, "GET /it's", writeTasks},
}

// TestPostgres tests that the SQL of why -sql finds on PostgreSQL what the report has.
func TestPostgres(t *testing.T) {
	p := startPostgres(t)
	n := sqlRequests(t)
	for _, tt := range postgresTests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.write(t, n)
			r, script := analyze(t, tt.p, tt.kind, file)
			p.load(t, file, script)
			start := time.Now()
			events, pairs, err := p.run(script)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("analyzed by PostgreSQL in %.1f s", time.Since(start).Seconds())
			for _, d := range compare(r, events, pairs) {
				t.Error(d)
			}
			for _, row := range append(events, pairs...) {
				t.Logf("%q", row)
			}
		})
	}
}

// TestPostgresJoined tests the SQL of records of several servers, on the rows that are of them.
func TestPostgresJoined(t *testing.T) {
	p := startPostgres(t)
	f := newFleet(6, fleetNames...)
	for i := range 3000 {
		binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
		j := fanOut(rare(i, f.around(40*testMs)))
		j.calls[2].beside, j.calls[2].region = testMs+rare(i, f.around(80*testMs))+rare(i/2+i%2*99, 80*testMs), "index"
		j.calls[1].mutex = rare(i+3, f.around(20*testMs))
		f.do(j, taskrecord.SpanID{}, time.Duration(i)*time.Second)
		if list := f.files[4]; i%7 == 0 {
			f.files[4] = list[:len(list)-1]
		}
	}
	files := f.run(t, 0, nil)
	rows := filepath.Join(t.TempDir(), "rows")
	status, script, errs := call(append([]string{"-sql", "-rows", rows, "-kind", "GET /"}, files...)...)
	if status != 0 || !strings.Contains(errs, "the script is for the rows that -rows writes") {
		t.Fatalf("status %d: %s", status, errs)
	}
	in := input{latency: "latency", stderr: io.Discard, progress: &progress{}}
	in.Max = 1 << 40
	for _, file := range files {
		in.read(file)
	}
	if err := in.joined.rows(&in.b, "GET /", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	r, err := why.Analyze(in.b.Table(in.unit), why.Params{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Top() != "mutex on backup5 (write)" {
		t.Errorf("the report: %s", r.Cause())
	}
	p.load(t, rows, script)
	events, pairs, err := p.run(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compare(r, events, pairs) {
		t.Error(d)
	}
	for _, m := range []struct{ old, new string }{
		{"OR c.task = e.task AND", "OR"},
		{"OR e.grp = 7", ""},
		{"AND a.grp <> 7 AND b.grp <> 7", ""},
	} {
		wrong := strings.Replace(script, m.old, m.new, 1)
		if wrong == script {
			t.Errorf("no %q in the script", m.old)
		}
		events, pairs, err := p.run(wrong)
		if err != nil || len(compare(r, events, pairs)) == 0 {
			t.Errorf("it does not matter whether the script has %q: %v", m.old, err)
		}
	}
	if len(events) < 30 {
		t.Errorf("%d events", len(events))
	}
}

// TestPostgresNotices tests that the comparison notices if the SQL is wrong.
func TestPostgresNotices(t *testing.T) {
	p := startPostgres(t)
	mutations := []struct{ old, new string }{
		{`(c\d+) > CAST`, `$1 >= CAST`},
		{`(c\d+) <= CAST`, `$1 < CAST`},
		{`size - 1 - least`, `size - least`},
		{`THEN all_n ELSE n END AS size`, `THEN all_n ELSE all_n END AS size`},
		{`THEN 1 ELSE 0 END AS random`, `THEN 0 ELSE 1 END AS random`},
		{`THEN 1 ELSE 0 END AS random`, `THEN 1 ELSE 1 END AS random`},
		{`AND n\d+ < place THEN`, `AND place < 0 THEN`},
		{`p.low_place < p.all_place`, `p.low_place > p.all_place`},
		{`least\(c\.raw, c\.own\)`, `c.raw`},
		{`c\.grp < e\.grp`, `c.grp > e.grp`},
		{`c\.grp = 2 OR`, ``},
		{`x\.high_a \+ x\.high_b - x\.shared`, `x.high_a + x.high_b`},
		{`WHEN b\.n = b\.all_n THEN a\.high`, `WHEN true THEN a.high`},
		{`remains DESC`, `remains`},
		{`least\(coalesce\(c\.adjusted, e\.raw\), e\.own\)`, `coalesce(c.adjusted, e.raw)`},
		{`(?s)\n  AND id IN .*?;`, `;`},
		{`WHERE NOT client`, `WHERE true`},
		{`NOT uncounted AND`, ``},
		{`counts_running_ns->>'(\S+)' = counts_enabled_ns->>'(\S+)'`, `true`},
		{`WHERE coalesce\(line->>'kind', ''\) = '.*'`, ``},
		{`adjusted \+ 0\.5\) DESC`, `adjusted + 0.5)`},
		{`AND \(sampled OR NOT slow\)`, ``},
		{`NOT early AND`, ``},
		{`ELSE \(line->>'(\S+)'\)::double precision END`, `ELSE (r.latency->>'$1')::double precision END`},
	}
	noticed := make([]bool, len(mutations))
	for _, tt := range postgresTests {
		file := tt.write(t, 10_000)
		r, script := analyze(t, tt.p, tt.kind, file)
		p.load(t, file, script)
		for i, m := range mutations {
			wrong := regexp.MustCompile(m.old).ReplaceAllString(script, m.new)
			if wrong == script || noticed[i] {
				continue
			}
			events, pairs, err := p.run(wrong)
			noticed[i] = err != nil || len(compare(r, events, pairs)) > 0
			if err != nil {
				t.Errorf("%s: %v", m.old, err)
			}
		}
	}
	for i, m := range mutations {
		if !noticed[i] {
			t.Errorf("it does not matter whether the script has %q or %q", m.old, m.new)
		}
	}
}
