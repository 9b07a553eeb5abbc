// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"runtime/task"
	"testing"
	"time"
)

// TestReal keeps the records of a program, whose connections break off.
func TestReal(t *testing.T) {
	kind := fmt.Sprint("real ", time.Now().UnixNano()) // of this run
	if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{kind: 1}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	hs := httptest.NewServer(http.HandlerFunc(pprof.Tasks))
	defer hs.Close()
	dir := t.TempDir()
	push := func() {
		for range 200 {
			_, tk := task.New(context.Background(), kind)
			tk.End()
		}
	}
	push() // some are in the rings before
	k := start(t, dir, least, hs.URL+"?kind="+url.QueryEscape(kind))
	for i := range 5 {
		push()
		until(t, "the records", func() bool { list, _ := kept(t, dir); return len(list) >= (i+2)*200 })
		hs.CloseClientConnections()
	}
	until(t, "what may have been missing", noGap(t, dir))
	if _, err := k.stop(); err != nil {
		t.Error(err)
	}
	list, _ := kept(t, dir)
	if l := balance(t, dir); len(list) != 1200 || l.Gaps != 0 || l.Lost != 0 {
		t.Errorf("%d records, want 1200; %+v", len(list), l)
	}
}
