// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"net/http"
	"net/url"
)

// A copied is a request as it is sent to a backend.
type copied struct {
	http.Request
	url url.URL
}

// copy makes c a copy of r that is for b. It has r's context and r's header, which nobody changes.
func (c *copied) copy(r *http.Request, b *backend) {
	c.Request = *r
	c.url = *r.URL
	c.url.Scheme, c.url.Host = b.URL.Scheme, b.URL.Host
	if r.Host == "" {
		c.Host = r.URL.Host // the same, whoever is asked
	}
	c.Request.URL = &c.url
}
