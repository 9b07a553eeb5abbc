// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"slices"
	"sync"
	"time"
)

// outliving are tasks that have ended while goroutines worked for them that work for no task now.
// They stay, so that it can be said what these use. Who takes a task out of the list gives it up.
var outliving struct {
	sync.Mutex
	list    []perf.TaskID // the oldest one first, but for those that were looked at since
	dropped uint64        // tasks that there was no room for
}

// maxOutliving is how many there are at most. What goroutines of others use is known when these end.
const maxOutliving = 1000

// outlive adds a task that has ended. slow says that it was, and has a log.
//
// It looks at two others, which it gives up if their goroutines have ended: so there are not many
// such, and the end of a task takes no longer if there are.
func outlive(id perf.TaskID, slow bool) {
	if slow {
		runtime_perfTaskGiveUp(id, true)
	}
	outliving.Lock()
	defer outliving.Unlock()
	for range min(2, len(outliving.list)) {
		old := outliving.list[0]
		outliving.list = outliving.list[1:]
		if _, n := runtime_perfTaskOutlived(old, true); n == 0 {
			runtime_perfTaskGiveUp(old, false)
			continue
		}
		if len(outliving.list) < maxOutliving-1 {
			outliving.list = append(outliving.list, old)
			continue
		}
		runtime_perfTaskGiveUp(old, false)
		outliving.dropped++
	}
	outliving.list = append(outliving.list, id)
}

// outlivedTime returns for how long goroutines have run after the end of the tasks that they worked
// for, and how many such tasks it knows of only what their goroutines had used when they ended.
func outlivedTime() (ran time.Duration, dropped uint64) {
	outliving.Lock()
	list, dropped := slices.Clone(outliving.list), outliving.dropped
	outliving.Unlock()
	sum := runtime_perfTaskOutlivedBefore()
	for _, id := range list {
		nanos, n := runtime_perfTaskOutlived(id, false)
		sum += nanos
		if n == 0 {
			outliving.Lock()
			i := slices.Index(outliving.list, id)
			if i >= 0 {
				outliving.list = slices.Delete(outliving.list, i, i+1)
			}
			outliving.Unlock()
			if i >= 0 {
				runtime_perfTaskGiveUp(id, false)
			}
		}
	}
	return time.Duration(sum), dropped
}
