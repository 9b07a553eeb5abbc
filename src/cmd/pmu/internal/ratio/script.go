// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// Colours are those of a diverging scale from blue to orange, which the colour-blind tell
// apart, light enough for dark text. Less of them is in the middle.
//
//go:embed page/ratio.css
var style string

// The script reads what it needs from the frames: places from their styles, names and numbers
// from their titles. It has no "<" and no "&", as the page is XML, too.
//
//go:embed page/ratio.js
var script string

// scriptHash returns the script's SHA-256 as policies have it.
func scriptHash() string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
