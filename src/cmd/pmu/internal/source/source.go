// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package source opens what tools read: files, standard input, and what servers have under
// /debug/pprof.
package source

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Source is where input comes from.
type Source struct {
	Stdin   io.Reader
	Timeout time.Duration // for a URL
	Max     int64         // bytes to read at most
	Path    string        // of a URL that has none
}

// Flags defines the flags -max and -timeout.
func (s *Source) Flags(flags *flag.FlagSet) {
	flags.Int64Var(&s.Max, "max", cmp.Or(s.Max, 1<<30), "read at most so many `bytes` from each file or URL")
	flags.DurationVar(&s.Timeout, "timeout", 2*time.Minute, "the longest that a URL may take; 0 is for ever")
}

// Open opens a file, a URL, or standard input, which is "-". Of tasks it asks a server for
// JSON, unless the URL says what for: the page is for people.
func (s *Source) Open(name string) (*Stream, error) {
	if s.Max <= 0 {
		return nil, fmt.Errorf("-max is %d: it must be more than 0", s.Max)
	}
	if s.Timeout < 0 {
		return nil, fmt.Errorf("-timeout is %v: it must not be less than 0", s.Timeout)
	}
	r, err := s.open(name)
	if err != nil {
		return nil, err
	}
	return &Stream{r: r, left: s.Max, max: s.Max, timeout: s.Timeout}, nil
}

func (s *Source) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.Stdin), nil
	}
	if !IsURL(name) {
		f, err := os.Open(name)
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err // the name is said already
		}
		if errors.Is(err, fs.ErrNotExist) && strings.Contains(name, "/debug/pprof") {
			err = fmt.Errorf("%w: a URL begins with http:// or https://", err)
		}
		return f, err
	}
	u, err := url.Parse(name)
	if err != nil {
		return nil, err
	}
	if u.Host == "" {
		return nil, errors.New("the URL has no host")
	}
	SetPath(u, s.Path)
	tasks := strings.HasSuffix(u.Path, "/debug/pprof/tasks")
	if q := u.Query(); tasks && q.Get("format") == "" {
		q.Set("format", "json")
		u.RawQuery = q.Encode()
	}
	client := &http.Client{Timeout: s.Timeout}
	resp, err := client.Get(u.String())
	if err != nil {
		return nil, Explain(err, s.Timeout)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		err := fmt.Errorf("the server says %s: %q", resp.Status, bytes.TrimSpace(text))
		switch {
		case resp.StatusCode != http.StatusNotFound:
		case tasks:
			err = fmt.Errorf("%w: has the program been built with this Go, and does it import net/http/pprof?", err)
		case u.Path == "" || u.Path == "/":
			err = fmt.Errorf("%w: profiles are below /debug/pprof/", err)
		}
		return nil, err
	}
	return &response{resp.Body, resp}, nil
}

// A response is the body of a server's response, whose trailers are there when it has been read.
type response struct {
	io.ReadCloser
	resp *http.Response
}

// Explain says what would help against an error of a URL, which is said already.
func Explain(err error, timeout time.Duration) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	var netErr net.Error
	if timeout > 0 && errors.As(err, &netErr) && netErr.Timeout() {
		return fmt.Errorf("it took longer than %v: raise -timeout", timeout)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("%w: is the server running, and is this its address?", err)
	}
	return err
}

// Files returns the files that an argument names: those in it, in order of their names, if it is a
// directory. Names that begin with a dot are left out.
func Files(name string) ([]string, error) {
	if fi, err := os.Stat(name); IsURL(name) || err != nil || !fi.IsDir() {
		return []string{name}, nil
	}
	list, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no file in this directory", name)
	}
	return files, nil
}

// IsURL reports whether name is a URL.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// SetPath sets the path of a URL that names only a server, as go tool pprof does, if path is not empty.
func SetPath(u *url.URL, path string) {
	if path != "" && (u.Path == "" || u.Path == "/") {
		u.Path = path
	}
}

// A Stream is a source that is open. It is read up to a limit, and says whether there was more.
type Stream struct {
	r        io.ReadCloser
	left     int64
	max      int64
	exceeded bool
	timeout  time.Duration
}

func (l *Stream) Read(p []byte) (int, error) {
	if l.left == 0 {
		var one [1]byte
		n, err := io.ReadFull(l.r, one[:])
		l.exceeded = l.exceeded || n > 0
		if n > 0 || err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return 0, err
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		err = Explain(err, l.timeout)
	}
	return n, err
}

// Size returns how many bytes there are to read, or 0 if that isn't known: of a file it is.
func (l *Stream) Size() int64 {
	if f, ok := l.r.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			return min(fi.Size(), l.left)
		}
	}
	return 0
}

// Missing says what of the records is missing that a server was asked for, if all that it has sent was
// read.
func (l *Stream) Missing() (list []string) {
	a, ok := l.r.(*response)
	if !ok {
		return nil
	}
	for _, t := range []struct{ name, why string }{
		{"X-Go-Tasks-Lost", "lost on the server, where newer ones took the place in the rings"},
		{"X-Go-Tasks-Left-Out", "left out by the server as too large for the format"},
	} {
		n, err := strconv.ParseUint(a.resp.Trailer.Get(t.name), 10, 64)
		switch {
		case err != nil || n == 0:
		case n == 1:
			list = append(list, "1 record was "+t.why)
		default:
			list = append(list, fmt.Sprintf("%d records were %s", n, t.why))
		}
	}
	return list
}

// Close closes what was opened.
func (l *Stream) Close() error { return l.r.Close() }

// Err returns an error if there was more to read than the limit.
func (l *Stream) Err() error {
	if l.exceeded {
		return fmt.Errorf("there are more than %d bytes: raise -max to read the rest", l.max)
	}
	return nil
}
