// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	. "runtime/hazard"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

func TestMain(m *testing.M) {
	if os.Args[0] == "sleep" { // what a child executes
		time.Sleep(time.Hour)
		return
	}
	if file, ok := os.LookupEnv("HAZARD_TEST_FILE"); ok {
		if endsFirst() {
			go func() {
				childMain(file)
				os.Exit(0)
			}()
			syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
		}
		childMain(file)
		return
	}
	os.Exit(m.Run())
}

// endsFirst reports whether the first thread of this process ends, as with C's pthread_exit.
func endsFirst() bool { return os.Getenv("HAZARD_TEST_FIRST") == "ends" }

func init() {
	if endsFirst() {
		runtime.LockOSThread() // main is on it
	}
}

// childMain publishes in a file, and does what it reads: a command a line, which it answers with a
// line.
func childMain(file string) {
	answer := func(v any) {
		if v == nil || v == error(nil) {
			v = "ok"
		}
		fmt.Println(v)
	}
	if os.Getenv("HAZARD_TEST_MLOCK") == "off" {
		NoMlock()
	}
	if dir, ok := os.LookupEnv("HAZARD_TEST_SHM"); ok {
		SetShm(dir)
	}
	if arg, ok := os.LookupEnv("HAZARD_TEST_MOUNT"); ok {
		if err := mountChild(arg); err != nil {
			answer(err)
			return
		}
	}
	p, err := Publish(file)
	answer(err)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		cmd, arg, _ := strings.Cut(in.Text(), " ")
		switch cmd {
		case "set":
			var s State
			fmt.Sscan(arg, &s)
			answer(p.Set(s, strings.TrimSpace(strings.TrimLeft(arg, "0123456789"))))
		case "stop":
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			answer(nil)
		case "longstop": // so long that who is woken by its begin sleeps again
			many()
			answer(nil)
			runtime.Stack(make([]byte, 100), true) // looks at all of them, whatever it returns
		case "gc":
			runtime.GC()
			answer(nil)
		case "cut":
			answer(os.Truncate(file, 0))
		case "close":
			answer(p.Close())
		case "publish":
			p, err = Publish(arg)
			answer(err)
		case "execfails":
			answer(fmt.Sprint(syscall.Exec("/nonexistent", nil, nil)))
		case "exec": // keeps its ID, and publishes no more
			os.Stdout.WriteString("ok\n")
			answer(syscall.Exec("/proc/self/exe", []string{"sleep"}, nil))
		case "rawexec": // as C's execve, of which the runtime does not hear
			os.Stdout.WriteString("ok\n")
			answer(rawExec("/proc/self/exe", "sleep"))
		case "busy": // goroutines that do not give way
			for range 2 * runtime.GOMAXPROCS(0) {
				go func() {
					for {
					}
				}()
			}
			answer(nil)
		case "fuzz":
			fuzz(p)
			answer(nil)
		case "react":
			var n int
			fmt.Sscan(arg, &n)
			answer(react(p, n))
		case "exitlocked": // while somebody waits for a file system
			LockPublishing()
			os.Exit(3)
		case "exitbubble":
			ExitInBubble(3)
		case "exitbusy": // while many set the state
			for i := range 1000 {
				go func() {
					for p.Set([]State{Draining, OK}[i%2], "") == nil {
					}
				}()
			}
			time.Sleep(100 * time.Millisecond)
			os.Exit(3)
		case "exitfed": // while a thread waits in the kernel, and does not end
			if err := StickFeed(); err != nil {
				answer(err)
			}
			os.Exit(3)
		case "return":
			return
		case "exit":
			os.Exit(3)
		default:
			answer("unknown command " + cmd)
		}
	}
}

// rawExec executes another program, without package syscall's telling the runtime.
func rawExec(file string, args ...string) error {
	path, err := syscall.BytePtrFromString(file)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), 0)
	return errno
}

// many starts many goroutines. From then on the garbage collector does not stop the world.
var many = sync.OnceFunc(func() {
	debug.SetGCPercent(-1)
	for range 20000 {
		go func() { select {} }()
	}
})

// A child is a process that publishes.
type child struct {
	t    testing.TB
	file string
	cmd  *exec.Cmd
	in   io.Writer
	out  *bufio.Scanner
}

// supported returns what keeps any program from publishing, such as on gVisor.
var supported = sync.OnceValue(func() error { return Supported("/dev/shm") })

// tempDir returns a directory on tmpfs.
func tempDir(t testing.TB) string {
	t.Helper()
	if err := supported(); err != nil {
		t.Skip("no files without a name, or no locks of open files: ", err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "hazard-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// start starts a child that publishes in a file, and returns it with the answer to that.
func start(t testing.TB, file string) (c *child, answer string) {
	t.Helper()
	return startWith(t, file, func(*exec.Cmd) {})
}

func startWith(t testing.TB, file string, prepare func(*exec.Cmd)) (c *child, answer string) {
	t.Helper()
	c = &child{t: t, file: file, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), "HAZARD_TEST_FILE="+file)
	c.cmd.Stderr = os.Stderr
	prepare(c.cmd)
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	c.in, c.out = in, bufio.NewScanner(out)
	if !c.out.Scan() {
		t.Fatal("the child says nothing")
	}
	return c, c.out.Text()
}

// publish starts a child that publishes in a file of its own.
func publish(t testing.TB) *child {
	t.Helper()
	c, answer := start(t, filepath.Join(tempDir(t), "page"))
	if answer != "ok" {
		t.Fatal(answer)
	}
	return c
}

// do has the child do something, and returns its answer.
func (c *child) do(format string, args ...any) string {
	c.t.Helper()
	fmt.Fprintf(c.in, format+"\n", args...)
	if !c.out.Scan() {
		c.t.Fatalf("the child does not answer %q", fmt.Sprintf(format, args...))
	}
	return c.out.Text()
}

// must is do, where the answer is ok.
func (c *child) must(format string, args ...any) {
	c.t.Helper()
	if a := c.do(format, args...); a != "ok" {
		c.t.Fatalf("%s: %s", fmt.Sprintf(format, args...), a)
	}
}

func (c *child) open() *Watcher {
	c.t.Helper()
	w, err := Open(c.file)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { w.Close() })
	return w
}

func status(t testing.TB, w *Watcher) Status {
	t.Helper()
	s, err := w.Status()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
