// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What a goroutine waits in, by the reason that the scheduler has for that.

package runtime

import "internal/runtime/perf"

// perfWaits says what a goroutine that waits is in. It has an element for each value of
// the type, so that the index needs no check.
var perfWaits = [256]perfWait{
	waitReasonZero:                  {perf.PartOther, false},
	waitReasonGCAssistMarking:       {perf.PartGC, true},
	waitReasonIOWait:                {perf.PartNetwork, false},
	waitReasonChanReceiveNilChan:    {perf.PartChan, false},
	waitReasonChanSendNilChan:       {perf.PartChan, false},
	waitReasonDumpingHeap:           {perf.PartStopTheWorld, true},
	waitReasonGarbageCollection:     {perf.PartGC, true},
	waitReasonGarbageCollectionScan: {perf.PartGC, true},
	waitReasonPanicWait:             {perf.PartOther, false},
	waitReasonSelect:                {perf.PartSelect, false},
	waitReasonSelectNoCases:         {perf.PartSelect, false},
	waitReasonGCAssistWait:          {perf.PartGC, false},
	waitReasonGCSweepWait:           {perf.PartGC, false},
	waitReasonGCScavengeWait:        {perf.PartGC, false},
	waitReasonChanReceive:           {perf.PartChan, false},
	waitReasonChanSend:              {perf.PartChan, false},
	waitReasonFinalizerWait:         {perf.PartOther, false},
	waitReasonForceGCIdle:           {perf.PartOther, false},
	waitReasonUpdateGOMAXPROCSIdle:  {perf.PartOther, false},
	waitReasonSemacquire:            {perf.PartSync, false},
	waitReasonSleep:                 {perf.PartSleep, false},
	waitReasonSyncCondWait:          {perf.PartSync, false},
	waitReasonSyncMutexLock:         {perf.PartMutex, false},
	waitReasonSyncRWMutexRLock:      {perf.PartMutex, false},
	waitReasonSyncRWMutexLock:       {perf.PartMutex, false},
	waitReasonSyncWaitGroupWait:     {perf.PartSync, false},
	waitReasonTraceReaderBlocked:    {perf.PartOther, false},
	waitReasonWaitForGCCycle:        {perf.PartGC, false},
	waitReasonGCWorkerIdle:          {perf.PartGC, false},
	waitReasonGCWorkerActive:        {perf.PartGC, true},
	waitReasonPreempted:             {perf.PartGC, false},
	waitReasonDebugCall:             {perf.PartOther, false},
	waitReasonGCMarkTermination:     {perf.PartGC, true},
	waitReasonStoppingTheWorld:      {perf.PartStopTheWorld, true},
	waitReasonFlushProcCaches:       {perf.PartStopTheWorld, true},
	waitReasonTraceGoroutineStatus:  {perf.PartOther, true},
	waitReasonTraceProcStatus:       {perf.PartOther, true},
	waitReasonPageTraceFlush:        {perf.PartOther, true},
	waitReasonCoroutine:             {perf.PartCoroutine, false},
	waitReasonGCWeakToStrongWait:    {perf.PartGC, false},
	waitReasonSynctestRun:           {perf.PartSync, false},
	waitReasonSynctestWait:          {perf.PartSync, false},
	waitReasonSynctestChanReceive:   {perf.PartChan, false},
	waitReasonSynctestChanSend:      {perf.PartChan, false},
	waitReasonSynctestSelect:        {perf.PartSelect, false},
	waitReasonSynctestWaitGroupWait: {perf.PartSync, false},
	waitReasonCleanupWait:           {perf.PartOther, false},
}

type perfWait struct {
	part  perf.Part
	keeps bool // its thread: it works, and its status only lets others scan its stack
}
