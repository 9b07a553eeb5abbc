// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"internal/taskrecord"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A folder is the files of records, of all servers. Its methods may be called at the same time.
type folder struct {
	dir  string
	most int64 // bytes, of all files with the ledger
	part int64 // bytes, after which a file is followed by another one

	mu     sync.Mutex
	ledger ledger
	number int                 // the greatest one of a file that is, or was, there
	size   int64               // of the files
	saved  int64               // bytes of the ledger
	at     time.Time           // when it was saved
	seen   map[uint64]struct{} // the records of all files, by what names them, and of the last ones removed
	gone   []uint64            // those of removed files that are in seen, the oldest first
	err    error               // of writing; there is no other record after it
	lock   io.Closer

	// disk is called before each change of the folder, and may forbid it. Tests replace it.
	disk func(step string, t *taskrecord.Record) error
}

// A file is one of a folder's.
type file struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`

	// Its records are of this URL, with what selects them, and process.
	URL     string `json:"url,omitempty"`
	Process string `json:"process,omitempty"`

	size int64
	to   taskrecord.RingPlaces // up to where its records are in the rings, as they say
	ids  []uint64              // of its records, which are in seen
}

const (
	filePrefix = "tasks-" // of the names of files; a number of ten digits follows

	// largest is the largest size of a file: readers stop at 1 GiB of one, unless they are told otherwise.
	largest = 256 << 20

	// least is the least bound: a record takes up to 1 MiB. So does what an old and a new ledger have of a
	// server, at most.
	least = 8 << 20
	each  = 1 << 20

	// remembered is how many of the removed records are still known: a stream that begins while another
	// one goes on, or that is behind, may have them again.
	remembered = 1 << 20
)

// nameOf returns the name of the file of a number.
func nameOf(number int) string { return fmt.Sprintf("%s%010d", filePrefix, number) }

// numberOf returns the number of a file. It reports false if the name is none of the folder's: all other
// files are the user's. They take no part in what is kept, and are never removed.
func numberOf(name string) (number int, ok bool) {
	number, err := strconv.Atoi(strings.TrimPrefix(name, filePrefix))
	return number, err == nil && number > 0 && name == nameOf(number)
}

// openFolder opens a folder, which is made if there is none. It reads the files that are there, and so finds
// which records are there, how many the ledger lacks, and what was not written to its end.
func openFolder(dir string, most int64, servers int, disk func(step string, t *taskrecord.Record) error) (f *folder, err error) {
	if need := max(least, 2*each*int64(servers)); most < need {
		return nil, fmt.Errorf("%d bytes are too few: it takes %d at least", most, need)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	locked, err := lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			locked.Close()
		}
	}()
	f = &folder{dir: dir, most: most, part: min(largest, max(64<<10, most/8/int64(servers))), seen: make(map[uint64]struct{}), lock: locked, disk: disk}
	if err := f.ledger.load(dir); err != nil {
		return nil, err
	}
	before := f.ledger.records()
	files := make(map[string]file)
	for _, old := range f.ledger.Files { // one that is gone was removed before this was written down
		if _, err := os.Stat(filepath.Join(dir, old.Name)); os.IsNotExist(err) {
			f.ledger.Removed += old.Records
			before -= old.Records
			continue
		}
		files[old.Name] = old
	}
	f.ledger.Files = nil
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	f.ledger.Damaged = 0
	for _, e := range list {
		number, ok := numberOf(e.Name())
		if !ok {
			continue
		}
		f.number = max(f.number, number)
		if e.Type().IsRegular() {
			if err := f.count(e.Name(), files[e.Name()]); err != nil {
				return nil, err
			}
		}
	}
	// Each of those that the ledger lacks was read.
	f.ledger.Read += f.ledger.records() - before
	f.mu.Lock()
	defer f.mu.Unlock()
	return f, f.save()
}

// count adds a file that is there, of which the ledger has what old says.
func (f *folder) count(name string, old file) error {
	r, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return err
	}
	defer r.Close()
	fi, err := r.Stat()
	if err != nil {
		return err
	}
	x := file{Name: name, URL: old.URL, Process: old.Process, size: fi.Size()}
	rr := taskrecord.NewFileReader(r)
	for {
		t, err := rr.Next()
		if err != nil {
			break // what is no record is damage
		}
		x.Records++
		x.to.Raise(rr.At().Places)
		f.note(&x, t)
	}
	f.ledger.Damaged += rr.Skipped()
	f.size += x.size
	f.ledger.Files = append(f.ledger.Files, x)
	return nil
}

// idOf returns what names a record, in 64 bits, or 0 if nothing does: two of a million times a
// million pairs have the same.
func idOf(t *taskrecord.Record) uint64 {
	if t.Span.IsZero() {
		return 0
	}
	h := fnv.New128a()
	h.Write(t.Trace[:])
	h.Write(t.Span[:])
	return binary.BigEndian.Uint64(h.Sum(nil)) | 1
}

// note notes that a file has a record.
func (f *folder) note(x *file, t *taskrecord.Record) {
	if id := idOf(t); id != 0 {
		f.seen[id] = struct{}{}
		x.ids = append(x.ids, id)
	}
}

// An appender writes the records of one process of a server: each has its own file, as what records have in
// common is written once.
type appender struct {
	f       *folder
	url     string // of the server, with what selects records
	process string
	name    string   // of the file, or ""
	out     *os.File // the file
	w       *taskrecord.FileWriter
	buf     bytes.Buffer
}

// add writes a record of a reading, unless it is there already. At is where that is. The folder is locked.
func (a *appender) add(t *taskrecord.Record, r *reading, at taskrecord.RingPlaces) error {
	f := a.f
	if f.err != nil {
		return f.err
	}
	// The ledger may be saved while the record is written. It balances then, too: the record is not read
	// until it is written.
	own := at[:min(1, len(at))] // in its ring
	switch _, ok := f.seen[idOf(t)]; {
	case ok:
		f.ledger.Read++
		f.ledger.Twice++
		return nil
	case len(own) > 0 && own.Within(r.removed):
		f.ledger.Read++
		f.ledger.Older++
		return nil
	}
	x := f.file(a.name) // nil if it was removed, too
	if x != nil && x.size >= f.part {
		x = nil
	}
	if x != nil && a.encode(t, own) && x.size+int64(a.buf.Len()) > f.part {
		x = nil
	}
	if x == nil {
		a.close()
		a.w = taskrecord.NewFileWriter(&a.buf, t.Server)
		a.encode(t, own)
	}
	if a.buf.Len() == 0 {
		f.ledger.Read++
		f.ledger.TooLarge++
		return nil
	}
	if f.err = a.write(x, t); f.err != nil {
		return f.err
	}
	f.file(a.name).to.Raise(own)
	return nil
}

// encode encodes a record. It reports false, and there is nothing, if it is too large.
func (a *appender) encode(t *taskrecord.Record, own taskrecord.RingPlaces) bool {
	a.buf.Reset()
	a.w.At.Places = own
	return a.w.Write(t) == nil
}

// write writes what is encoded, to a new file if x is nil. It is one call of the system: if the program
// is killed, a file has the record as a whole, or a part at its end.
func (a *appender) write(x *file, t *taskrecord.Record) (err error) {
	f := a.f
	n := int64(a.buf.Len())
	if x == nil {
		if err := f.begin(a); err != nil {
			return err
		}
	}
	if err := f.room(a.name, n); err != nil {
		return err
	}
	x = f.file(a.name)
	if err := f.disk("record", t); err != nil {
		return err
	}
	k, err := a.out.Write(a.buf.Bytes())
	x.size += int64(k)
	f.size += int64(k)
	if err != nil {
		f.ledger.Damaged += int64(k)
		return err
	}
	x.Records++
	f.ledger.Read++
	f.note(x, t)
	return nil
}

// begin begins a file of an appender.
func (f *folder) begin(a *appender) (err error) {
	if err := f.disk("new file", nil); err != nil {
		return err
	}
	f.number++
	a.name = nameOf(f.number)
	if a.out, err = os.OpenFile(filepath.Join(f.dir, a.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600); err != nil {
		return err
	}
	f.ledger.Files = append(f.ledger.Files, file{Name: a.name, URL: a.url, Process: a.process})
	return f.save()
}

// close ends the file of an appender. Another one follows with the next record.
func (a *appender) close() error {
	if a.out == nil {
		return nil
	}
	err := a.out.Close()
	a.name, a.out = "", nil
	return err
}

// file returns the file of a name, or nil.
func (f *folder) file(name string) *file {
	for i := len(f.ledger.Files) - 1; i >= 0; i-- {
		if f.ledger.Files[i].Name == name {
			return &f.ledger.Files[i]
		}
	}
	return nil
}

// room removes the oldest files, but not the one of a name, until there is room for so many bytes
// more, and for an old and a new ledger. That a file makes room is saved before it does: whenever the program
// is killed, the next one knows how many records it had, and does not write them again.
func (f *folder) room(but string, bytes int64) error {
	for f.size+bytes+2*f.saved > f.most {
		i := slices.IndexFunc(f.ledger.Files, func(x file) bool { return x.Name != but })
		if i < 0 {
			return nil // it has much less than the bound
		}
		x := f.ledger.Files[i]
		for _, u := range f.ledger.Extents[x.URL] {
			if u.Process == x.Process {
				u.Removed.Raise(x.to)
			}
		}
		if err := cmp.Or(f.save(), f.disk("remove", nil)); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(f.dir, x.Name)); err != nil && !os.IsNotExist(err) {
			return err
		}
		f.gone = append(f.gone, x.ids...)
		if over := len(f.gone) - remembered; over > 0 {
			for _, id := range f.gone[:over] {
				delete(f.seen, id)
			}
			f.gone = slices.Delete(f.gone, 0, over)
		}
		f.size -= x.size
		f.ledger.Removed += x.Records
		f.ledger.Files = slices.Delete(f.ledger.Files, i, i+1)
		if err := f.save(); err != nil {
			return err
		}
	}
	return nil
}

// save saves the ledger. The folder is locked.
func (f *folder) save() (err error) {
	f.at = time.Now()
	f.saved, err = f.ledger.save(f.dir, f.disk)
	f.err = cmp.Or(f.err, err)
	return err
}

// change changes the ledger, and saves it.
func (f *folder) change(do func(l *ledger)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.ledger)
	return f.save()
}
