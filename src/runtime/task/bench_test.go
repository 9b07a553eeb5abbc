// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"testing"
)

func BenchmarkWithValue(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sinkContext = context.WithValue(context.Background(), taskKey{}, b)
	}
}

var sinkContext context.Context

func BenchmarkTask(b *testing.B) {
	for _, rate := range []struct {
		name string
		rate float64
	}{{"rate=0", 0}, {"rate=1", 1}} {
		b.Run(rate.name, func(b *testing.B) {
			if err := Start(Config{Rate: rate.rate}); err != nil {
				b.Fatal(err)
			}
			defer Stop()
			b.ReportAllocs()
			ctx := context.Background()
			for b.Loop() {
				var t *Task
				sinkContext, t = New(ctx, "bench")
				t.End()
			}
		})
	}
}

func BenchmarkRegion(b *testing.B) {
	if err := Start(Config{}); err != nil {
		b.Fatal(err)
	}
	defer Stop()
	_, t := New(context.Background(), "bench")
	defer t.End()
	b.ReportAllocs()
	for b.Loop() {
		r := t.Region("region")
		r.End()
	}
}
