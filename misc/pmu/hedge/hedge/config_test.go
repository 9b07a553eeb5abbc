// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestNewErrors(t *testing.T) {
	backend := func(text string) Backend {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return Backend{URL: u}
	}
	good := backend("http://a.test/")
	for _, c := range []struct {
		c    Config
		says string
	}{
		{Config{}, "no backends"},
		{Config{Backends: []Backend{good, {}}}, "backend 2: URL <nil>"},
		{Config{Backends: []Backend{backend("ftp://a.test")}}, "want http://HOST"},
		{Config{Backends: []Backend{backend("http:///x")}}, "want http://HOST"},
		{Config{Backends: []Backend{backend("http://a.test/x")}}, "a scheme and a host only"},
		{Config{Backends: []Backend{backend("http://a.test?x")}}, "a scheme and a host only"},
		{Config{Backends: []Backend{backend("http://user:secret@a.test")}}, "a scheme and a host only"},
		{Config{Backends: []Backend{good}, Budget: 1.01}, "1 at most"},
		{Config{Backends: []Backend{good}, Budget: math.NaN()}, "1 at most"},
	} {
		tr, err := New(c.c)
		if err == nil {
			tr.Close()
			t.Errorf("no error, want %q", c.says)
		} else if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	tr, err := New(Config{Backends: []Backend{good}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	body := &closeCounter{Reader: strings.NewReader("x")}
	if _, err := tr.RoundTrip(&http.Request{Body: body}); err == nil || body.closed != 1 {
		t.Errorf("no URL: %v, closed %d times", err, body.closed)
	}
}
