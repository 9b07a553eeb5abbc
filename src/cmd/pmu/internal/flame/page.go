// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package flame

import (
	"bytes"
	"cmd/pmu/internal/htmltext"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"maps"
)

// Style is the style sheet of pages with a graph. Its colours are those of a diverging scale from blue to orange, which the
// colour-blind tell apart, light enough for dark text.
//
//go:embed page/flame.css
var Style string

// Script is the script of pages with a graph. It reads what it needs from the frames: places from their styles, names and
// numbers from their titles. It has no "<" and no "&", as pages are XML, too.
//
//go:embed page/flame.js
var Script string

//go:embed page/graph.html
var graphText string

var graph = template.Must(template.New("graph").Funcs(template.FuncMap{"clean": Clean}).Parse(graphText))

// ContentSecurityPolicy returns what a page with a graph is allowed to do, for the header of this name: to have
// styles, and to run the one script that it has. The page says it itself, too.
func ContentSecurityPolicy() string {
	sum := sha256.Sum256([]byte(Script))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML returns the graph for a page of [Parse]. Names may come from anybody: they are cleaned and escaped.
func (g *Graph) HTML() template.HTML {
	var b bytes.Buffer
	if err := graph.Execute(&b, g); err != nil {
		panic(err) // a buffer has no errors, and the template none
	}
	return template.HTML(b.String())
}

// Parse is [htmltext.Parse] for pages that may have a graph. Their templates have functions clean, policy and script
// besides. The script belongs after the graph.
func Parse(css string, funcs template.FuncMap, files fs.FS, names ...string) htmltext.Page {
	all := template.FuncMap{
		"clean":  Clean,
		"policy": ContentSecurityPolicy,
		"script": func() template.JS { return template.JS(Script) },
	}
	maps.Copy(all, funcs)
	return htmltext.Parse(Style+css, all, files, names...)
}
