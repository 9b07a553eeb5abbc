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
// They stay, so that it can be said what these use.
var outliving struct {
	sync.Mutex
	list []perf.TaskID // the oldest one first
}

// maxOutliving is how many there are at most. What goroutines of others use is known when these end.
const maxOutliving = 1000

// outlive adds a task that has ended. slow says that it was, and has a log.
func outlive(id perf.TaskID, slow bool) {
	if slow {
		runtime_perfTaskGiveUp(id, true)
	}
	outliving.Lock()
	defer outliving.Unlock()
	if len(outliving.list) >= maxOutliving {
		outlived()
		// So that this is not necessary for each one, if all of them go on.
		if n := len(outliving.list) - maxOutliving/2; n > 0 {
			for _, old := range outliving.list[:n] {
				runtime_perfTaskGiveUp(old, false)
			}
			outliving.list = slices.Delete(outliving.list, 0, n)
		}
	}
	outliving.list = append(outliving.list, id)
}

// outlived returns for how long goroutines have run after the end of the tasks that they worked
// for, and gives up tasks that have none any more. outliving is locked.
func outlived() time.Duration {
	sum := runtime_perfTaskOutlivedBefore()
	outliving.list = slices.DeleteFunc(outliving.list, func(id perf.TaskID) bool {
		ran, n := runtime_perfTaskOutlived(id)
		if n == 0 {
			runtime_perfTaskGiveUp(id, false)
			return true
		}
		sum += ran
		return false
	})
	return time.Duration(sum)
}

func outlivedTime() time.Duration {
	outliving.Lock()
	defer outliving.Unlock()
	return outlived()
}
