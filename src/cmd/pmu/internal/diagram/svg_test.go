// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An svgDoc is what was found in a diagram.
type svgDoc struct {
	elements map[string]int
	classes  map[string]int
	titles   []string
	text     string
	ids      []string
	bytes    int
}

// parseSVG returns an error if data is not what a diagram may be: one well-formed element
// without scripts, handlers of events and references to elsewhere.
func parseSVG(data []byte) (*svgDoc, error) {
	doc := &svgDoc{elements: make(map[string]int), classes: make(map[string]int), bytes: len(data)}
	allowed := map[string]string{
		"svg": "xmlns class role width height viewBox aria-label", "title": "", "desc": "", "style": "", "defs": "", "g": "",
		"rect":    "class x y width height fill fill-opacity rx style",
		"path":    "class d stroke stroke-opacity",
		"text":    "class x y text-anchor style stroke stroke-width paint-order",
		"circle":  "cx cy r fill",
		"pattern": "id width height patternUnits",
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	depth, roots := 0, 0
	var stack []string
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			if depth == 0 {
				roots++
			}
			depth++
			stack = append(stack, name)
			doc.elements[name]++
			attrs, ok := allowed[name]
			if !ok {
				return nil, fmt.Errorf("element %s", name)
			}
			for _, a := range tok.Attr {
				if !strings.Contains(" "+attrs+" ", " "+a.Name.Local+" ") {
					return nil, fmt.Errorf("attribute %s of %s", a.Name.Local, name)
				}
				if a.Name.Local != "aria-label" && a.Name.Local != "xmlns" && strings.Contains(a.Value, ":") &&
					a.Value != "fill:#000" && a.Value != "fill:#fff" && a.Value != "fill:var(--paper,#fff)" ||
					strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					return nil, fmt.Errorf("attribute %s=%q of %s", a.Name.Local, a.Value, name)
				}
				switch a.Name.Local {
				case "class":
					doc.classes[a.Value]++
				case "id":
					doc.ids = append(doc.ids, a.Value)
				}
			}
		case xml.EndElement:
			depth--
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if depth == 0 {
				if strings.TrimSpace(string(tok)) != "" {
					return nil, fmt.Errorf("text outside: %q", tok)
				}
				continue
			}
			switch stack[depth-1] {
			case "title":
				doc.titles = append(doc.titles, string(tok))
			case "text":
				doc.text += string(tok) + "\n"
			case "style":
				if string(tok) != string(svgStyle) {
					return nil, fmt.Errorf("style %q", tok)
				}
			}
		default:
			return nil, fmt.Errorf("%T", tok)
		}
	}
	if roots != 1 || depth != 0 || doc.elements["svg"] != 1 {
		return nil, fmt.Errorf("%d roots, depth %d", roots, depth)
	}
	return doc, nil
}

func drawSVG(t *testing.T, name string, f func(io.Writer) error) *svgDoc {
	t.Helper()
	var buf bytes.Buffer
	if err := f(&buf); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("TASK_SVG_DIR"); dir != "" && name != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".svg"), buf.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := parseSVG(buf.Bytes())
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, buf.Bytes())
	}
	return doc
}

// has checks that each text is in a tooltip or a label.
func (doc *svgDoc) has(t *testing.T, where string, in string, want ...string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(in, s) {
			t.Errorf("no %q in %s:\n%s", s, where, in)
		}
	}
}

// TestText checks the escaping itself, and the check of it.
func TestText(t *testing.T) {
	var b svgWriter
	b.title(hostile, "two\nlines")
	got := b.String()
	want := "<title>&lt;/title&gt;&lt;/text&gt;&lt;/style&gt;]]&gt;&lt;script&gt;alert(1)&lt;/script&gt;��&#34;&#39; onload=&#39;x&#39; ��&amp;lt;&#10;two lines</title>"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range []string{"<svg><script/></svg>", "<svg onload='x'/>", "<svg/><svg/>", "<svg><rect fill='url(http://x)'/></svg>", "<svg><text>\x00</text></svg>", "<svg>", "<svg><a/></svg>", "<svg/>x"} {
		if _, err := parseSVG([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 3, "日…"}, {"日本語", 6, "日本語"}} {
		if got := cutWidth(test.s, test.n); got != test.want {
			t.Errorf("cutWidth(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}

// TestPut tests that what put is given is escaped, unless it is markup.
func TestPut(t *testing.T) {
	var b svgWriter
	b.put(`<rect class="%" x="%"/>%<text>%</text>`, hostile, 1.5, markup("<g/>"), "<b>")
	want := `<rect class="&lt;/title&gt;&lt;/text&gt;&lt;/style&gt;]]&gt;&lt;script&gt;alert(1)&lt;/script&gt;��&#34;&#39; onload=&#39;x&#39; ��&amp;lt;" x="1.5"/><g/><text>&lt;b&gt;</text>`
	if got := b.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTick(t *testing.T) {
	for _, test := range []struct {
		span time.Duration
		n    int
		want time.Duration
	}{{1, 10, 1}, {48 * ms, 11, 5 * ms}, {time.Second, 10, 200 * ms}, {1<<63 - 1, 10, 1e18}, {1<<63 - 1, 1, 1e18}} {
		if got := tick(test.span, test.n); got != test.want {
			t.Errorf("tick(%v, %d) = %v, want %v", test.span, test.n, got, test.want)
		}
	}
}
