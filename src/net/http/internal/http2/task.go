// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http2

import "net/http/internal"

// WatchTask returns where to watch w. It is in the stream, which is no other response's when
// the handler has finished. So is the rest, which must not be looked at by a handler that was
// given up.
func WatchTask(w *ResponseWriter) *internal.TaskWatch { return w.task }

// answerTask is called before the header is copied.
func (rws *responseWriterState) answerTask(status int) {
	o := rws.stream.task.Answer(status)
	if o == nil {
		return
	}
	if rws.handlerHeader == nil {
		rws.handlerHeader = make(Header)
	}
	o.Reply(rws.handlerHeader)
}
