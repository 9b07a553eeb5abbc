// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"bytes"
	"io"
	"net/http"
)

// Bodies are kept so that they can be sent again. They are read before anything is sent, as
// proxies that buffer do: an attempt then never waits for the client.

// A body is what there is of a request's body.
type body struct {
	kept  []byte                        // all of it, or nil
	again func() (io.ReadCloser, error) // returns it another time, or nil
	rest  io.ReadCloser                 // what is larger, and so passed on once, or nil
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// keep reads r's body up to a limit of bytes. It closes it, unless there is more or an attempt will.
func keep(r *http.Request, limit int64) (b body, err error) {
	if !hasBody(r) {
		return b, nil
	}
	if r.GetBody != nil {
		b.again = r.GetBody
		return b, nil
	}
	if r.ContentLength > limit {
		b.rest = r.Body
		return b, nil
	}
	if n := r.ContentLength; n > 0 {
		b.kept = make([]byte, n)
		_, err = io.ReadFull(r.Body, b.kept)
	} else {
		b.kept, err = io.ReadAll(io.LimitReader(r.Body, limit+1))
	}
	if err != nil {
		r.Body.Close()
		return b, err
	}
	if int64(len(b.kept)) > limit {
		b.rest = &tail{io.MultiReader(bytes.NewReader(b.kept), r.Body), r.Body}
		b.kept = nil
		return b, nil
	}
	return b, r.Body.Close()
}

// A tail is a body whose beginning has been read already.
type tail struct {
	io.Reader
	io.Closer
}

// set gives a copy of a request the body. If it is the first attempt, that is the request's
// own where it is not kept.
func (b *body) set(r *http.Request, first bool) error {
	switch {
	case b.kept != nil:
		r.ContentLength = int64(len(b.kept))
		r.TransferEncoding = nil
		r.Body = http.NoBody
		if len(b.kept) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(b.kept))
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.kept)), nil }
	case b.rest != nil:
		r.Body = b.rest
	case b.again != nil && !first:
		var err error
		r.Body, err = b.again()
		return err
	}
	return nil
}
