// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Profiles whose samples say what was accessed.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

// Provided by package runtime; see perfobject.go there.

func runtime_perfSiteStack(site uintptr) []uintptr

// DataAddresses has the samples of opt, which [PerfEvent] or [PerfEvents] has returned,
// say what they accessed, in labels:
//
//	object     what the address is in: the function and the line that allocated an object
//	           of the heap, or "heap" if the heap profile has no sample of it (see
//	           [runtime.MemProfileRate]); the name of a package-level variable, or "data";
//	           "stack", "system stack", "free heap", "runtime", "unknown" or "no address". With
//	           ", or behind it", objects without pointers of less than 16 bytes may
//	           follow the one of that place within its 16 bytes
//	type       of an object of the heap, or of its elements. The runtime knows it of objects
//	           with pointers that have more than 512 bytes (128 on 32-bit processors); else it
//	           is "unknown"
//	field      of the type, if that is a struct
//	offset     of the address, in the object, in bytes
//	size       of the object, in bytes
//	address    what was accessed
//	access     "load" or "store", if it is known
//	hitm       "true" if the line was modified in another processor's cache
//	cpu        the processor
//	goroutine  the goroutine's ID
//
// Of an event of the processor there is a sample type latency/cycles, too: the processor's
// weight of each sample times what the sample stands for. If there are several such events,
// each has one, whose name begins with the event's.
//
// The events must have addresses: page faults, breakpoints on data, and what the processor
// samples precisely, such as cpu/mem-loads,ldlat=30/P of Intel's and ibs_op// of AMD's
// (perf-mem(1)). Others are refused.
func DataAddresses(opt ProfilingOption) ProfilingOption { return dataOption{opt} }

type dataOption struct{ opt ProfilingOption }

func (o dataOption) apply(s *perfSession) error {
	events, ok := o.opt.(*perfEventsOption)
	if !ok {
		return errNoData
	}
	if err := events.apply(s); err != nil {
		return err
	}
	p := s.profiles[len(s.profiles)-1]
	p.data = new(perfData)
	for _, e := range p.events {
		if why := noAddresses(e.Event); why != "" {
			return fmt.Errorf("cpu profile: event %s has no addresses: %s", e.Name, why)
		}
		for _, slot := range e.slots {
			s.configs[slot].Data = true
		}
		if e.Attrs[0].OnPMU() {
			p.data.latencies++
			e.latency = len(p.events) + p.data.latencies
		}
	}
	return nil
}

// imprecise returns an event of a profile with data addresses whose samples have none, because
// the processor does not take them precisely, or nil. precise returns the precision of a slot.
// AMD's IBS has one level, whatever is asked for.
func (s *perfSession) imprecise(precise func(slot int) int8) *perfEvent {
	for slot, cfg := range s.configs {
		if cfg.Data && cfg.OnPMU() && precise(slot) == 0 {
			return s.slots[slot]
		}
	}
	return nil
}

// Parse is that of the option that o wraps; see perfEventsOption.Parse.
func (o dataOption) Parse() ([]*perfevent.Event, error) {
	events, ok := o.opt.(*perfEventsOption)
	if !ok {
		return nil, errNoData
	}
	return events.Parse()
}

var errNoData = errors.New("cpu profile: DataAddresses needs an option of PerfEvent or PerfEvents, whose samples have addresses")

// noAddresses returns why samples of an event have no addresses, or "" if they may have.
func noAddresses(e *perfevent.Event) string {
	a := &e.Attrs[0]
	switch {
	case e.Kind == perfevent.Breakpoint:
		if a.BPType == perf.BreakpointX {
			return "it samples calls; a breakpoint on data has :r, :w or :rw"
		}
	case a.Type == perf.TypeSoftware:
		switch a.Config {
		case perf.SWPageFaults, perf.SWMinorFaults, perf.SWMajorFaults:
		default:
			return "use page-faults, a breakpoint on data, or a precise event of the processor"
		}
	case !a.OnPMU():
		return "use page-faults, a breakpoint on data, or a precise event of the processor"
	case runtime.GOARCH != "amd64" && runtime.GOARCH != "386":
		return "among processors, only samples of Intel's and AMD's have any"
	case a.Precise == 0:
		return "only precise samples have any; add :p, :pp or :ppp"
	}
	return ""
}

// A perfData is what a profile knows of objects.
type perfData struct {
	latencies int // events that have one
	sites     map[uintptr]string
	globals   perfGlobals
}

// splitData returns the words that say what was accessed, and the stack; data is nil if there
// are none.
func splitData(stk []uint64) (data, rest []uint64) {
	if len(stk) >= perf.DataWords && stk[perf.DataMark] == perf.DataFollows {
		return stk[:perf.DataWords], stk[perf.DataWords:]
	}
	return nil, stk
}

func dataUint64(data []uint64, i int) uint64 { return data[i]&(1<<32-1) | data[i+1]<<32 }

// appendLabels appends the labels of a sample.
func (x *perfData) appendLabels(p *perfProfile, dst []byte, data []uint64) []byte {
	pb := &p.b.pb
	n := len(pb.data)
	label := func(key, value string) { p.b.pbLabel(tagSample_Label, key, value, 0) }
	addr, base, size := data[perf.DataAddr], data[perf.DataBase], data[perf.DataSize]
	kind := perf.MemKind(data[perf.DataMem])
	object := memKindNames[kind]
	switch kind {
	case perf.MemHeap, perf.MemTiny:
		if site := data[perf.DataSite]; site != 0 {
			object = x.site(uintptr(site))
			if kind == perf.MemTiny && addr != base {
				object += ", or behind it"
			}
		}
		if t := data[perf.DataType]; t != 0 {
			typ := typeAt(uintptr(t))
			label("type", typ.String())
			if f := fieldAt(typ, uintptr(addr-base)); f != "" {
				label("field", f)
			}
		} else {
			label("type", "unknown")
		}
	case perf.MemGlobal:
		if name, start, n := x.globals.find(addr); name != "" {
			object, base, size = name, start, n
		}
	}
	label("object", object)
	if size != 0 || data[perf.DataSite] != 0 {
		label("offset", strconv.FormatUint(addr-base, 10))
	}
	if size != 0 {
		label("size", strconv.FormatUint(size, 10))
	}
	if addr != 0 {
		label("address", "0x"+strconv.FormatUint(addr, 16))
	}
	source := dataUint64(data, perf.DataSource)
	switch {
	case source&memOpLoad != 0:
		label("access", "load")
	case source&memOpStore != 0:
		label("access", "store")
	}
	if source&memSnoopHitM != 0 {
		label("hitm", "true")
	}
	label("cpu", strconv.FormatUint(data[perf.DataMem]>>8, 10))
	if goid := dataUint64(data, perf.DataGoid); goid != 0 {
		label("goroutine", strconv.FormatUint(goid, 10))
	}
	dst = append(dst, pb.data[n:]...)
	pb.data = pb.data[:n]
	return dst
}

const (
	// union perf_mem_data_src in linux/perf_event.h: mem_op at bit 0, mem_snoop at 19.
	memOpLoad    = 0x02
	memOpStore   = 0x04
	memSnoopHitM = 0x10 << 19
)

// memKindNames are the names of objects that have no other.
var memKindNames = [perf.NumMemKinds]string{
	perf.MemUnknown:     "unknown",
	perf.MemNone:        "no address",
	perf.MemHeap:        "heap",
	perf.MemTiny:        "heap",
	perf.MemFree:        "free heap",
	perf.MemStack:       "stack",
	perf.MemSystemStack: "system stack",
	perf.MemManual:      "runtime",
	perf.MemGlobal:      "data",
}

// site returns where an object was allocated: the innermost function that is not the
// runtime's, and the line.
func (x *perfData) site(site uintptr) string {
	if s, ok := x.sites[site]; ok {
		return s
	}
	if x.sites == nil {
		x.sites = make(map[uintptr]string)
	}
	s := "heap"
	frames := runtime.CallersFrames(runtime_perfSiteStack(site))
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			// A file's name would be all that pprof's page shows: it shortens names
			// to what is behind the last dot.
			s = fmt.Sprintf("%s:%d", f.Function, f.Line)
			break
		}
		if !more {
			break
		}
	}
	x.sites[site] = s
	return s
}

// typeAt returns the type whose description is at typ. Types are never freed.
func typeAt(typ uintptr) reflect.Type {
	e := struct{ typ, data unsafe.Pointer }{typ: *(*unsafe.Pointer)(unsafe.Pointer(&typ))}
	return reflect.TypeOf(*(*any)(unsafe.Pointer(&e)))
}

// fieldAt returns which field of a struct is at an offset, or "" if none is. The offset may be
// in one of several values, one after the other. Elements of arrays have no index: the
// offset says which one it is.
func fieldAt(t reflect.Type, off uintptr) string {
	name := ""
	for {
		if t.Size() == 0 {
			return name
		}
		off %= t.Size()
		switch t.Kind() {
		case reflect.Array:
			name += "[]"
			t = t.Elem()
			continue
		case reflect.Struct:
		default:
			return name
		}
		i := t.NumField() - 1
		for i >= 0 && (t.Field(i).Offset > off || t.Field(i).Type.Size() == 0) {
			i--
		}
		if i < 0 || off-t.Field(i).Offset >= t.Field(i).Type.Size() {
			return name // padding
		}
		if name != "" {
			name += "."
		}
		f := t.Field(i)
		name += f.Name
		off -= f.Offset
		t = f.Type
	}
}
