// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package listcmd

import (
	"cmd/pmu/internal/htmltext"
	"cmd/pmu/internal/source"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime/pprof"
	"strings"
)

// maxText is how many letters of a server's texts are printed.
const maxText = 1000

// serverEvents returns the list of events of the server that has the address below its
// /debug/pprof/, or as that.
func serverEvents(src *source.Source, address string) ([]pprof.EventInfo, error) {
	list, err := listURL(address)
	if err != nil {
		return nil, err
	}
	r, err := src.Open(list)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var events []struct {
		pprof.EventInfo
		Err string
	}
	if err := json.Unmarshal(data, &events); err != nil || events == nil {
		return nil, errors.New("the answer is no list of events: it is a server's whose Go cannot sample them, or its address is another one than that of /debug/pprof/")
	}
	var infos []pprof.EventInfo
	for _, e := range events {
		info := e.EventInfo
		for _, s := range []*string{&info.Name, &info.Kind, &info.Unit} {
			*s = htmltext.Clean(*s, maxText)
		}
		for i, s := range info.Aliases {
			info.Aliases[i] = htmltext.Clean(s, maxText)
		}
		if e.Err != "" {
			info.Err = errors.New(htmltext.Clean(e.Err, maxText))
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// listURL returns the address of the list of events of the server whose /debug/pprof/, or
// something below it, is at address. Where a server has its index elsewhere, it is that.
func listURL(address string) (string, error) {
	if !source.IsURL(address) {
		return "", fmt.Errorf("%q is not the address of a server's /debug/pprof/: that begins with http:// or https://", address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if u.Host == "" {
		return "", errors.New("the URL has no host")
	}
	const index = "/debug/pprof/"
	if u.Path == "" { // and "/" may be where the index is
		u.Path = index
	}
	if before, _, ok := strings.Cut(u.Path+"/", index); ok {
		u.Path = before + index
	}
	u.RawPath, u.RawQuery = "", "events=1&format=json"
	return u.String(), nil
}
