// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"net/http"
	"strings"
	"syscall"
)

// A requestError is an error with the status of the answer.
type requestError struct {
	status int
	text   string
}

func (e *requestError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func serveEventError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[*requestError](err); ok {
		status = e.status
	}
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET")
	}
	serveError(w, status, err.Error())
}

// startError returns the answer to an error of StartSession: 400
// if another request would do, 409 if a later one would, 500 if the program's
// environment is wrong, 503 if it takes another machine or other permissions. The
// error says it all in words.
func startError(err error) error {
	text := strings.TrimPrefix(err.Error(), "cpu profile: ")
	status := http.StatusBadRequest
	e, isName := errors.AsType[*perfevent.Error](err)
	_, isSetting := errors.AsType[*perfevent.SettingError](err)
	switch {
	case isSetting:
		status = http.StatusInternalServerError
	case errors.Is(err, syscall.EBUSY):
		status = http.StatusConflict // the timer, other sessions, or somebody else with the PMU
	case isName && e.Kind == perfevent.ErrUnsupported:
		status = http.StatusServiceUnavailable
	case isName:
		text += "; events are " + perfevent.FlagNames() + ", rHEX, and all that /debug/pprof/ and perf list show"
	case errors.Is(err, syscall.EINVAL):
		// The kernel rejects the combination, not the event.
	case errors.Unwrap(err) != nil:
		status = http.StatusServiceUnavailable // an errno, or errors.ErrUnsupported
	}
	return &requestError{status, "Could not enable CPU profiling: " + text}
}
