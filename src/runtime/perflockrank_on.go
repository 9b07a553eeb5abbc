// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build goexperiment.staticlockranking

package runtime

const (
	lockRankPerfProf lockRank = lockRankPerfTaskRing + 1 + iota
	lockRankPerfCount
	lockRankPerfTaskConfig
	lockRankPerfTaskRings
	lockRankPerfTaskEnds
	lockRankPerfHazard
)

// perfLockRanks are our locks that are taken last, and what may be held then.
var perfLockRanks = []struct {
	rank lockRank
	name string
	held []lockRank
}{
	{lockRankPerfTaskRing, "perfTaskRing", nil},
	{lockRankPerfProf, "perfProf", []lockRank{lockRankExecW}}, // exec ends sampling
	{lockRankPerfCount, "perfCount", []lockRank{lockRankPerfTask}},
	{lockRankPerfTaskConfig, "perfTaskConfig", nil},
	{lockRankPerfTaskRings, "perfTaskRings", nil},
	{lockRankPerfTaskEnds, "perfTaskEnds", []lockRank{lockRankPerfTask}},
	{lockRankPerfHazard, "perfHazard", []lockRank{lockRankExecW}}, // exec ends what is published
}

// init gives our locks their places in the order. None has been taken before: the program
// begins to sample, count or record. Other threads look at the order meanwhile. So it is
// replaced as a whole, by one that says the same of the ranks that they know.
func init() {
	order, names := make([][]lockRank, len(lockPartialOrder), len(lockPartialOrder)+len(perfLockRanks)), lockNames[:len(lockNames):len(lockNames)]
	for rank, held := range lockPartialOrder {
		order[rank] = held
		for _, h := range held {
			if h == lockRankRoot {
				// As root, so perfTask: both are taken first, on a stack that may grow.
				order[rank] = append(held[:len(held):len(held)], lockRankPerfTask)
			}
		}
	}
	for _, r := range perfLockRanks {
		order, names = append(order, r.held), append(names, r.name)
	}
	lockPartialOrder, lockNames = order, names
	lockInit(&perfProf.lock, lockRankPerfProf)
	lockInit(&perfCount.lock, lockRankPerfCount)
	lockInit(&perfTaskConfig.lock, lockRankPerfTaskConfig)
	lockInit(&perfTaskRings.lock, lockRankPerfTaskRings)
	lockInit(&perfTaskEnds.lock, lockRankPerfTaskEnds)
	lockInit(&perfHazard.lock, lockRankPerfHazard)
}
