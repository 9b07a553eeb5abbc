// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// This file is the file format: what it looks like, and the coding of a record. The
// sections and frames around records are in writer.go and reader.go, and the coding of
// numbers, strings and lists in coder.go.
//
// A file is a sequence of sections, and nothing else. So files can be concatenated, and
// a program that starts again appends to the file that it has left. A section is a header
// and the records of one server:
//
//	header = magic[8] version[1] length[3] crc[4] body[length]
//	record = marker[1] length[3] crc[4] check[2] body[length]
//
// Numbers in frames are little endian. The header's frame is the same in all versions;
// this is version 1.
//
//	magic   F7 67 6F 20 74 61 73 6B
//	marker  E5
//	length  of the body: at most 16 KiB in a header, and 1 MiB in a record
//	crc     CRC-32C: in a header, of version, length and body; in a record, of the
//	        section's nonce and the body
//	check   the lower half of the CRC-32C of the nonce, marker, length and crc
//
// In all bodies a 0 is put after each occurrence of the magic's first seven bytes, and
// taken out again by readers. So the magic is at the beginning of headers only, whatever
// the strings in records are, and a reader that has lost its way finds the next header.
// Length and crc are those of the body with the added bytes.
//
// The nonce is random. It makes sure that a record is not taken for one of another
// section, whose server and strings are others, and that what looks like a record within
// a string is not taken for one. Check guards the length, so that a damaged body costs
// one record.
//
// Bodies consist of
//
//	u       an unsigned number: a varint as in encoding/binary and protocol buffers
//	i       a signed number: a zigzag varint, ditto; sums and differences of these wrap
//	s       a string by its number (u) in the section's table; 0 is the empty string
//	x[n]    n bytes
//	n*(...) a number (u), and so many of what is in parentheses
//	∆       before a number: it is less the same number of the element before (0 if
//	        there is none), or of the field named
//
// Readers ignore what follows in a body after what they know. Fields that are added to
// the format within a version are added there, those of an element as a list of their own.
//
//	header body = nonce[8] id:u name pid:i start:i n*(event) boot mark
//	    with name, event, boot and process = length:u byte[length]; older ones have no boot, or no
//	    mark
//	    mark = 0:u, or 1:u process progress taken where an answer begins, or 2:u process progress
//	    taken where it ends; no record follows such a header; older ones have no taken
//	    taken = known:u preempted:i throttled:i delay:i stolen:i, the fields of [Taken]
//
//	record body = first:u n*(length:u byte[length]) task
//
// Strings are in the table from the record on that first uses them: the first new one
// has the number first, the next one first+1. The first of a section is 1. If a reader
// has fewer strings than first says, it has missed a record; then records that use the
// missing strings are lost as well. That is bounded, because writers begin a new section
// after 256 KiB. A table has at most 65,535 strings, each of at most 64 KiB.
//
//	task    = trace[16] span[8] parent[8] kind:s flags:u start∆:i wall:i
//	          before:clock after:clock usage goroutine:u goroutines:i
//	          n*(event:s) n*(region) n*(note) n*(call) n*(stretch) n*(outlived)
//	          outliving:i lost threshold:i usual empty:s ender n*(caller)
//	          progress
//	          with start less that of the server; older ones have no ender, no callers, or no progress
//	clock   = u n*(server:u count:u), the number n being in the lower 7 bits of a byte,
//	          of which the upper one says that the clock has overflowed
//	parts   = bits:u, and for each bit that is set, the lowest first, the time of the part:i
//	usage   = parts measured:i switches:i preemptions:i migrations:i
//	          n*(value:u enabled∆:i running∆:i), the latter less enabled
//	region  = name:s n:i wall:i max:i usage
//	note    = key:s value:s
//	call    = span[8] kind:s flags:u start∆:i wall:i remote:s
//	stretch = bits:u goroutine:u start∆:i wake∆:i end∆:i
//	          with wake less start, and end less wake, and depending on bits
//	          bit 0: region:s
//	          bit 1: it kept its thread
//	          bit 2: part:u reason:s stack
//	          bit 3: goroutine:u span[8] kind:s stack    of the waker
//	          bit 4: behindkind:s behind:i
//	          bit 5: stopped:i stopreason:s
//	outlived= id:u func:s frame part:u
//	lost    = n*(i), those of [AllLost] in their order; missing ones are 0
//	usual   = 0:u, or 1:u tasks:i wall:i usage
//	ender   = goroutine:u parts
//	caller  = goroutine:u ender∆:i, the latter less goroutine, of each call
//	progress= n*(ring:u next:u) lost:u leftout:u, the fields of [Progress]
//	frame   = func:s file:s line:i
//	stack   = s, a string that consists of frames, the innermost first
//
// Parts are numbered as in [pprof.TimePart]; readers add the time of parts that they do not
// know to pprof.TimeOther. Trailing zeros of lost are left out.

package taskrecord

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"runtime/pprof"
	"slices"
	"time"
)

const (
	magic   = "\xf7go task"
	version = 1
	marker  = 0xe5

	headerFrame = 16 // bytes before a header's body
	recordFrame = 10 // bytes before a record's body

	maxHeader  = 16 << 10 // bytes of a header's body
	maxRecord  = 1 << 20  // bytes of a record's body
	maxString  = 64 << 10 // bytes of a string
	maxStrings = 1 << 16  // in a section, with the empty one

	// A section ends after the record with which it reaches sectionSize. What is lost if a
	// record or a header is damaged, is lost in its section only; the price is that
	// strings are written once a section. maxTable is how many bytes of strings a section
	// can have accordingly: it bounds a reader's memory.
	sectionSize = 256 << 10
	maxTable    = sectionSize + maxRecord
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// escaped is what must not be in a body, and escape stands for it; see above.
var (
	escaped = []byte(magic[:7])
	escape  = []byte(magic[:7] + "\x00")
)

func (c *coder) frame(f *Frame) {
	c.str(&f.Func)
	c.str(&f.File)
	signed(c, &f.Line)
}

func (c *coder) stack(s *[]Frame) {
	if !c.reading {
		// The frames' strings get their numbers before the stack does.
		body := c.b
		c.b = c.frames[:0]
		for i := range *s {
			c.frame(&(*s)[i])
		}
		c.frames, c.b = c.b, body
		n, ok := c.number[string(c.frames)]
		if !ok {
			n = c.intern(string(c.frames))
		}
		unsigned(c, &n)
		return
	}
	var n uint64
	unsigned(c, &n)
	stack, ok := c.stacks[n]
	if !ok && n != 0 {
		rest := c.b
		c.b = []byte(c.lookup(n))
		stack = make([]Frame, 0, len(c.b)/3)
		for len(c.b) > 0 {
			var f Frame
			c.frame(&f)
			stack = append(stack, f)
		}
		if c.err != nil {
			return
		}
		c.b = rest
		stack = slices.Clip(stack)
		c.stacks[n] = stack
	}
	*s = stack
}

func (c *coder) clock(k *Clock) {
	n := k.N
	if !c.reading {
		if n > MaxClock {
			c.fail(fmt.Errorf("a clock of %d servers; at most %d are possible", n, MaxClock))
			return
		}
		if k.Overflow {
			n |= 0x80
		}
	}
	head := [1]byte{n}
	c.raw(head[:])
	if c.reading {
		*k = Clock{N: head[0] & 0x7f, Overflow: head[0]&0x80 != 0}
		if k.N > MaxClock {
			k.N = 0
			c.fail(errMalformed)
		}
	}
	for i := range k.Entry[:k.N] {
		unsigned(c, &k.Entry[i].Server)
		unsigned(c, &k.Entry[i].Count)
	}
}

func (c *coder) parts(parts *[NumParts]time.Duration) {
	var set uint64
	for p, d := range parts {
		if d != 0 {
			set |= 1 << p
		}
	}
	unsigned(c, &set)
	for ; set != 0; set &= set - 1 {
		p := Part(bits.TrailingZeros64(set))
		if p < NumParts {
			signed(c, &parts[p])
		} else {
			var d time.Duration
			signed(c, &d)
			parts[pprof.TimeOther] += d
		}
	}
}

func (c *coder) usage(u *Usage) {
	c.parts(&u.Parts)
	signed(c, &u.Measured)
	signed(c, &u.Switches)
	signed(c, &u.Preemptions)
	signed(c, &u.Migrations)
	var enabled time.Duration
	list(c, &u.Count, 3, func(v *pprof.CounterValue) {
		unsigned(c, &v.Value)
		delta(c, &v.Enabled, enabled)
		enabled = v.Enabled
		delta(c, &v.Running, v.Enabled)
	})
}

// Bits of a stretch that say what follows.
const (
	stretchRegion = 1 << iota
	stretchOnThread
	stretchPart
	stretchWaker
	stretchBehind
	stretchStopped
)

func (c *coder) stretch(s *Stretch, before time.Duration) {
	var set uint8
	for i, there := range [...]bool{
		s.Region != "",
		s.OnThread,
		s.Part != 0 || s.Reason != "" || len(s.Stack) != 0,
		s.Waker.Goroutine != 0 || s.Waker.Span != (SpanID{}) || s.Waker.Kind != "" || len(s.Waker.Stack) != 0,
		s.BehindKind != "" || s.Behind != 0,
		s.Stopped != 0 || s.StopReason != "",
	} {
		if there {
			set |= 1 << i
		}
	}
	unsigned(c, &set)
	unsigned(c, &s.Goroutine)
	delta(c, &s.Start, before)
	delta(c, &s.Wake, s.Start)
	delta(c, &s.End, s.Wake)
	if set&stretchRegion != 0 {
		c.str(&s.Region)
	}
	if c.reading {
		s.OnThread = set&stretchOnThread != 0
	}
	if set&stretchPart != 0 {
		unsigned(c, &s.Part)
		c.str(&s.Reason)
		c.stack(&s.Stack)
	}
	if set&stretchWaker != 0 {
		unsigned(c, &s.Waker.Goroutine)
		c.raw(s.Waker.Span[:])
		c.str(&s.Waker.Kind)
		c.stack(&s.Waker.Stack)
	}
	if set&stretchBehind != 0 {
		c.str(&s.BehindKind)
		signed(c, &s.Behind)
	}
	if set&stretchStopped != 0 {
		signed(c, &s.Stopped)
		c.str(&s.StopReason)
	}
}

func (c *coder) lost(l *Lost) {
	n := len(AllLost)
	for n > 0 && *AllLost[n-1].Of(l) == 0 {
		n--
	}
	unsigned(c, &n)
	if n < 0 || c.reading && n > len(c.b) {
		c.fail(errMalformed)
		return
	}
	for i := range n {
		v := new(int64)
		if i < len(AllLost) {
			v = AllLost[i].Of(l)
		}
		signed(c, v)
	}
}

// task codes t, without its server, which is that of the section.
// It is long because it is the format: a line for each field, in the file's order.
func (c *coder) task(t *Record, server *Server) {
	c.raw(t.Trace[:])
	c.raw(t.Span[:])
	c.raw(t.Parent[:])
	c.str(&t.Kind)
	unsigned(c, &t.Flags)
	delta(c, &t.Start, server.Start)
	signed(c, &t.Wall)
	c.clock(&t.Before)
	c.clock(&t.After)
	c.usage(&t.Usage)
	unsigned(c, &t.Goroutine)
	signed(c, &t.Goroutines)
	list(c, &t.Events, 1, c.str)
	list(c, &t.Regions, 10, func(g *RegionSum) {
		c.str(&g.Name)
		signed(c, &g.N)
		signed(c, &g.Wall)
		signed(c, &g.Max)
		c.usage(&g.Usage)
	})
	list(c, &t.Notes, 2, func(n *Note) {
		c.str(&n.Key)
		c.str(&n.Value)
	})
	var start time.Duration // of the element before
	list(c, &t.Calls, 13, func(l *Call) {
		c.raw(l.Span[:])
		c.str(&l.Kind)
		unsigned(c, &l.Flags)
		delta(c, &l.Start, start)
		start = l.Start
		signed(c, &l.Wall)
		c.str(&l.Remote)
	})
	start = 0
	list(c, &t.Timeline, 5, func(s *Stretch) {
		c.stretch(s, start)
		start = s.Start
	})
	list(c, &t.Outlived, 6, func(g *Goroutine) {
		unsigned(c, &g.ID)
		c.str(&g.Func)
		c.frame(&g.Created)
		unsigned(c, &g.Part)
	})
	signed(c, &t.Outliving)
	c.lost(&t.Lost)
	signed(c, &t.Threshold)
	var usual uint8
	if t.Usual != nil {
		usual = 1
	}
	unsigned(c, &usual)
	if usual > 1 {
		c.fail(errMalformed)
	}
	if usual != 0 {
		if c.reading {
			t.Usual = new(Usual)
		}
		signed(c, &t.Usual.Tasks)
		signed(c, &t.Usual.Wall)
		c.usage(&t.Usual.Usage)
	}
	var empty string // was meant for the name of an execution trace, which no record has ever had
	c.str(&empty)
	if !c.reading || len(c.b) > 0 {
		unsigned(c, &t.Ender.Goroutine)
		c.parts(&t.Ender.Parts)
	}
	if !c.reading || len(c.b) > 0 {
		c.callers(t.Calls)
	}
}

// callers codes which goroutines have made and ended calls. Where fewer follow than there are calls, it is
// not known of the last ones.
func (c *coder) callers(calls []Call) {
	n := len(calls)
	unsigned(c, &n)
	if n > len(calls) {
		c.fail(errMalformed)
		return
	}
	for i := range n {
		unsigned(c, &calls[i].Goroutine)
		delta(c, &calls[i].Ender, calls[i].Goroutine)
	}
}
