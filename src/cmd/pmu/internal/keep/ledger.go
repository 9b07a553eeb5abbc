// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package keep

import (
	"encoding/json"
	"fmt"
	"internal/taskrecord"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ledgerName is the file of the ledger in a folder. As it begins with a dot, readers of the folder's
// records leave it out.
const ledgerName = ".ledger.json"

// A ledger says what has become of all records, since the folder was begun:
//
//	Read = Twice + TooLarge + Removed + Older + the records of Files
//
// As records may have secrets in their notes, only the user can read the files. URLs are without their
// passwords. The ledger is replaced as a whole, so that there is an old one or a new one whenever the program is
// killed. What was written after the last time is counted when the folder is opened again.
type ledger struct {
	Version  int   `json:"version"`
	Read     int64 `json:"read"`      // records that servers have sent
	Twice    int64 `json:"twice"`     // that were there already
	TooLarge int64 `json:"too_large"` // for the format of files
	Removed  int64 `json:"removed"`   // with the oldest files, to make room
	Older    int64 `json:"older"`     // than those: they came again, or were never there

	// What is missing, at most: servers' numbers overlap.
	Lost    int64  `json:"lost"`     // written over in the servers' rings before they were sent
	LeftOut int64  `json:"left_out"` // too large for a server to send
	Gaps    int64  `json:"gaps"`     // times after which records may be missing, as nobody read them
	Gap     int64  `json:"gap_ns"`   // these times in sum
	Damaged int64  `json:"damaged"`  // bytes of files that a write which did not end has left, or worse
	Files   []file `json:"files"`    // from the oldest on

	// Extents are up to where servers were read, by their URLs with what selects records.
	Extents map[string][]*extent `json:"extents"`

	// Last is when a server was read last, by its URL, in a folder of an older release.
	Last map[string]int64 `json:"last,omitempty"`
}

// ledgerVersion is raised when a program that doesn't know of a change would write a ledger that is wrong.
const ledgerVersion = 1

// load reads the ledger of a folder. A folder without one has an empty one.
func (l *ledger) load(dir string) error {
	l.Version, l.Extents = ledgerVersion, make(map[string][]*extent)
	name := filepath.Join(dir, ledgerName)
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, l); err != nil {
		return fmt.Errorf("%s: %w: remove it to begin another ledger", name, err)
	}
	if l.Version > ledgerVersion {
		return fmt.Errorf("%s has version %d of the ledger, and this program knows version %d: use the release of Go that has written it, or a later one", name, l.Version, ledgerVersion)
	}
	if l.Version = ledgerVersion; l.Extents == nil {
		l.Extents = make(map[string][]*extent)
	}
	return nil
}

// save replaces the ledger of a folder, and returns its size. Disk is called before each step.
func (l *ledger) save(dir string, disk func(step string, t *taskrecord.Record) error) (int64, error) {
	data, err := json.MarshalIndent(l, "", "\t")
	if err != nil {
		return 0, err
	}
	name := filepath.Join(dir, ledgerName)
	if err := disk("new ledger", nil); err != nil {
		return 0, err
	}
	os.Remove(name + ".new") // what a program that was killed has left may be readable for others
	if err := os.WriteFile(name+".new", append(data, '\n'), 0o600); err != nil {
		return 0, err
	}
	if err := disk("ledger", nil); err != nil {
		return 0, err
	}
	return int64(len(data)) + 1, os.Rename(name+".new", name)
}

// records returns how many there are in the files.
func (l *ledger) records() (n int64) {
	for i := range l.Files {
		n += l.Files[i].Records
	}
	return n
}

// missing says what may be missing of a folder's records, or "".
func (l *ledger) missing() string {
	var list []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(l.Removed, "%d older records were removed to make room", l.Removed)
	add(l.Older, "%d from before those came again, or were never there", l.Older)
	add(l.Lost, "servers lost %d before they were read", l.Lost)
	add(l.LeftOut+l.TooLarge, "%d were too large", l.LeftOut+l.TooLarge)
	gaps, together := "gap", ""
	if l.Gaps > 1 {
		gaps, together = "gaps", " together"
	}
	add(l.Gaps, "in %d %s of %v%s there may have been more", l.Gaps, gaps, time.Duration(l.Gap).Round(time.Millisecond), together)
	return strings.Join(list, "; ")
}

// Missing says of a folder that Run keeps what is missing in its records, or "" if nothing is, or if
// it is no such folder.
func Missing(dir string) string {
	var l ledger
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return ""
	}
	if err := l.load(dir); err != nil {
		return err.Error()
	}
	return l.missing()
}
