// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"fmt"
	"io"
)

// Label is the key of the label that [Profile.WriteProfile] adds.
const Label = "ratio"

// WriteProfile writes the profile with a label for each sample that has the class of the
// ratio of its innermost function: of what that executes itself, in all stacks. A stack by
// itself seldom has enough samples of both events. All else stays as it is.
func (p *Profile) WriteProfile(w io.Writer) error {
	t := p.grow()
	comment := fmt.Sprintf("%s: label with the class of each function's own %s; uncertain: its standard error is above %s", Label, p.kind.long, limit(p.maxError))
	err := p.raw.WriteLabeled(w, Label, func(i int) string { return p.className(p.labelOf(t, i)) }, comment)
	if err != nil {
		return fmt.Errorf("ratio: %w", err)
	}
	return nil
}

// labelOf returns the class of a sample.
func (p *Profile) labelOf(t *tree, sample int) int {
	if stack := stackOf(p.raw.Sample[sample]); len(stack) > 0 {
		if f := t.functions[stack[len(stack)-1]]; f != nil {
			return p.class(&f.own)
		}
	}
	return noRatio
}
