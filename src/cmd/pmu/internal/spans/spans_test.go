// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// Two spans, as each format has them: a client's that failed, and below it a server's.
const (
	otlpLine = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"web"}},{"key":"host.name","value":{"stringValue":"h1"}}]},"scopeSpans":[{"spans":[` +
		`{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0000000000000001","name":"GET","kind":3,"startTimeUnixNano":"1000000000000000","endTimeUnixNano":1000000002000000,"attributes":[{"key":"server.address","value":{"stringValue":"items"}},{"key":"size","value":{"intValue":"5"}},{"key":"list","value":{"arrayValue":{}}}],"status":{"code":2}}]}]},` +
		`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"items"}}]},"scopeSpans":[{"spans":[{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"0000000000000002","parentSpanId":"0000000000000001","name":"GET /items","kind":"SPAN_KIND_SERVER","startTimeUnixNano":"1000000000500000","endTimeUnixNano":"1000000001500000"}]}]}]}`
	zipkinArray = `[{"traceId":"000102030405060708090a0b0c0d0e0f","id":"0000000000000001","name":"GET","kind":"CLIENT","timestamp":1000000000000,"duration":2000,"localEndpoint":{"serviceName":"web"},"remoteEndpoint":{"serviceName":"items"},"tags":{"size":"5","error":"timeout"}},` +
		`{"traceId":"000102030405060708090a0b0c0d0e0f","parentId":"0000000000000001","id":"0000000000000002","name":"GET /items","kind":"SERVER","timestamp":1000000000500,"duration":1000,"localEndpoint":{"serviceName":"items"}}]`
	jaegerAnswer = `{"data":[{"traceID":"102030405060708090a0b0c0d0e0f","spans":[` +
		`{"traceID":"102030405060708090a0b0c0d0e0f","spanID":"1","operationName":"GET","references":[],"startTime":1000000000000,"duration":2000,"processID":"p1","tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"peer.service","type":"string","value":"items"},{"key":"size","type":"int64","value":5},{"key":"error","type":"bool","value":true}],"logs":[]},` +
		`{"traceID":"102030405060708090a0b0c0d0e0f","spanID":"2","operationName":"GET /items","references":[{"refType":"CHILD_OF","traceID":"102030405060708090a0b0c0d0e0f","spanID":"1"}],"startTime":1000000000500,"duration":1000,"processID":"p2","tags":[{"key":"span.kind","type":"string","value":"server"}]}],` +
		`"processes":{"p1":{"serviceName":"web","tags":[{"key":"host.name","type":"string","value":"h1"}]},"p2":{"serviceName":"items","tags":[]}}}],"total":0,"errors":null}`
)

// read reads all spans of data, in the format that is detected.
func read(data string) (list []Span, r *Decoder, err error) {
	f := Detect([]byte(data), "latency")
	r = NewDecoder(bufio.NewReaderSize(strings.NewReader(data), 16), f, "latency", func(s *Span) { list = append(list, *s) })
	err = r.Read(func() error { return nil })
	return list, r, err
}

// pretty writes a value on many lines.
func pretty(data string) string {
	var b strings.Builder
	depth, quoted := 0, false
	for _, c := range data {
		switch {
		case c == '"':
			quoted = !quoted
			b.WriteRune(c)
		case quoted:
			b.WriteRune(c)
		case c == '{' || c == '[' || c == ',':
			if c != ',' {
				depth++
			}
			fmt.Fprintf(&b, "%c\n%s", c, strings.Repeat("  ", depth))
		case c == '}' || c == ']':
			depth--
			fmt.Fprintf(&b, "\n%s%c", strings.Repeat("  ", depth), c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + "\n"
}

// TestFormats tests that all formats say the same of the same spans, in all ways to write them.
func TestFormats(t *testing.T) {
	client := Span{Trace: [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, ID: [8]byte{7: 1}, Name: "GET", Service: "web", Peer: "items", Role: Client, Start: 1e15, End: 1e15 + 2e6, Failed: true}
	server := Span{Trace: client.Trace, ID: [8]byte{7: 2}, Parent: client.ID, Name: "GET /items", Service: "items", Role: Server, Start: 1e15 + 5e5, End: 1e15 + 15e5}
	zipkinLines := strings.ReplaceAll(zipkinArray[1:len(zipkinArray)-1], "},{", "}\n{")
	zipkinElements := "[\n" + strings.ReplaceAll(zipkinArray[1:len(zipkinArray)-1], "},{", "},\n{") + "\n]\n"
	jaegerTrace := jaegerAnswer[len(`{"data":[`):strings.Index(jaegerAnswer, `],"total"`)]
	for name, data := range map[string]string{
		"OTLP": otlpLine, "OTLP, pretty": pretty(otlpLine), "OTLP, no indent": strings.ReplaceAll(pretty(otlpLine), "  ", ""),
		"Zipkin": zipkinArray, "Zipkin, pretty": pretty(zipkinArray), "Zipkin, traces": "[" + zipkinArray + "]", "Zipkin, lines": zipkinLines + "\r\n", "Zipkin, an element a line": zipkinElements,
		"Jaeger": jaegerAnswer, "Jaeger, pretty": pretty(jaegerAnswer), "Jaeger, a trace": jaegerTrace, "Jaeger, traces": "[" + jaegerTrace + "]",
		"Jaeger, an element a line": "{\"data\":[\n" + jaegerTrace + "\n],\"total\":0}\n", "Jaeger, traces, an element a line": "[\n" + jaegerTrace + "\n]\n",
	} {
		list, r, err := read(data)
		if err != nil || r.Skipped() != 0 || len(r.Bad) != 0 || r.N != 2 || !strings.Contains(r.Format.String(), strings.TrimSuffix(strings.Fields(name)[0], ",")) {
			t.Errorf("%s: %v, %d bytes skipped, lacking %v, %d spans of %v", name, err, r.Skipped(), r.Bad, r.N, r.Format)
			continue
		}
		size := false
		for _, a := range list[0].Attributes {
			size = size || a.Key == "size" && (a.Number == 5 || a.Text == "5")
		}
		if host := list[0].Resource; !size || r.Format != Zipkin && (len(host) != 1 || host[0].Text != "h1") {
			t.Errorf("%s: attributes %+v, %+v", name, list[0].Attributes, host)
		}
		for i := range list {
			list[i].Attributes, list[i].Resource = nil, nil
		}
		if want := []Span{client, server}; !reflect.DeepEqual(list, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, list, want)
		}
	}
}

// TestBadLines tests that a bad line costs that line, that other signals are counted, and what spans
// lack that are left out.
func TestBadLines(t *testing.T) {
	const metrics = `{"resourceMetrics":[{"a":{}}]}`
	zipkinLine := zipkinArray[1:strings.Index(zipkinArray, "},{")+1] + "\n"
	jaegerLine := jaegerAnswer[len(`{"data":[`):strings.Index(jaegerAnswer, `],"total"`)] + "\n"
	for _, tt := range []struct {
		name, data string
		n, others  int64
		skipped    int
		lack       string
	}{
		{"signals", metrics + "\n" + otlpLine + "\n" + metrics + "\n" + otlpLine + "\n{\"resourceLogs\":[]}\n" + otlpLine, 6, 3, 0, ""},
		{"cut", otlpLine + "\n" + otlpLine[:200] + "\n" + otlpLine + "\n", 4, 0, 201, ""},
		{"cut at first", otlpLine[:200] + "\n" + otlpLine + "\n", 2, 0, 201, ""},
		{"cut at last", otlpLine + "\n" + otlpLine[:200], 2, 0, 200, ""},
		{"cut, pretty", otlpLine + "\n" + pretty(otlpLine)[:300] + "\n" + otlpLine + "\n", 4, 0, 301, ""},
		{"cut at a comma", otlpLine + "\n{,\n" + otlpLine + "\n", 4, 0, 3, ""},
		{"cut before a value", otlpLine + "\n{\"a\":\n" + otlpLine + "\n[\n" + otlpLine, 6, 0, 8, ""},
		{"Zipkin, cut after elements", "[\n" + strings.TrimSpace(zipkinLine) + ",\n" + strings.TrimSpace(zipkinLine) + " ,\n" + zipkinLine[:100], 2, 0, 102, ""},
		{"no JSON", otlpLine + "\n{\"resourceSpans\":[}\nxxx\n\n" + otlpLine + "\n", 4, 0, 25, ""},
		{"a wrong type", otlpLine + "\n{\"resourceSpans\":[1]}\n" + strings.Replace(otlpLine, `"GET"`, "7", 1) + "\n", 3, 0, 22, "1 lack the form of a span"},
		{"an ID", strings.Replace(otlpLine, `"spanId":"0000000000000001"`, `"spanId":"x"`, 1), 1, 0, 0, "1 lack an ID"},
		{"a start", strings.Replace(otlpLine, `"startTimeUnixNano":"1000000000000000",`, "", 1), 1, 0, 0, "1 lack a start"},
		{"an end", strings.Replace(otlpLine, `1000000002000000`, "1", 1), 1, 0, 0, "1 lack an end after the start"},
		{"Zipkin, cut", zipkinLine + zipkinLine[:100] + "\n" + zipkinLine, 2, 0, 101, ""},
		{"Zipkin, no duration", zipkinLine + strings.Replace(zipkinLine, `"duration":2000,`, "", 1), 1, 0, 0, "1 lack a duration"},
		{"Zipkin, a late time", zipkinLine + strings.Replace(zipkinLine, `"timestamp":1000000000000`, `"timestamp":9223372036854775807`, 1), 1, 0, 0, "1 lack a time that can be"},
		{"Zipkin v1", zipkinLine + `{"traceId":"1","id":"1","name":"x","timestamp":1,"binaryAnnotations":[]}` + "\n", 1, 0, 0, "1 lack the form of version 2: it is of version 1"},
		{"Jaeger, cut", jaegerLine + jaegerLine[:100] + "\n" + jaegerLine, 4, 0, 101, ""},
		{"Jaeger, no duration", strings.Replace(jaegerLine, `"duration":2000,`, "", 1), 1, 0, 0, "1 lack a duration"},
		{"OTLP, null", otlpLine + "\n" + strings.Replace(otlpLine, `"spans":[{`, `"spans":[null,{`, 1), 4, 0, 0, "1 lack the form of a span"},
		{"Zipkin, null", zipkinArray[:len(zipkinArray)-1] + ",null]", 2, 0, 0, "1 lack the form of a span"},
		{"Jaeger, null", "{\"data\":[" + jaegerLine + ",null]}", 2, 0, 0, "1 lack the form of a span"},
		{"Jaeger, null of a trace", strings.Replace(jaegerLine, `"spans":[`, `"spans":[null,`, 1), 2, 0, 0, "1 lack the form of a span"},
		{"Jaeger, something else", jaegerLine + "{\"a\":1}\n" + jaegerLine, 4, 0, 8, ""},
		{"Zipkin, space before", zipkinLine + "  " + zipkinArray + "\n" + zipkinLine, 4, 0, 0, ""},
		{"Jaeger, space before", jaegerLine + "\t[" + jaegerLine + "]\n" + jaegerLine, 6, 0, 0, ""},
		{"space before a wrong type", zipkinLine + "  {\"traceId\":1}\n" + zipkinLine, 2, 0, 16, ""},
		{"Jaeger, arrays in arrays", jaegerLine + `{"data":[[[[]]]],"traceID":""}` + "\n", 2, 0, 0, "1 lack the form of a span"},
	} {
		list, r, err := read(tt.data)
		lack, _ := r.Lack()
		if err != nil || int64(len(list)) != tt.n || r.N != tt.n || r.Others != tt.others || r.Skipped() != int64(tt.skipped) || lack != tt.lack {
			t.Errorf("%s: %v, %d spans, %d others, %d bytes skipped, %q; want %d, %d, %d, %q", tt.name, err, len(list), r.Others, r.Skipped(), lack, tt.n, tt.others, tt.skipped, tt.lack)
		}
	}
}

// TestDetect tests what is none of spans.
func TestDetect(t *testing.T) {
	for data, want := range map[string]Format{
		``: None, `{`: None, `{}`: None, `{"latency":1,"traceId":"1","id":"2"}`: None, `{"trace_id":"x","wall_ns":1}`: None, `{"data":[1,2]}`: None, `{"data":{"traceID":1}}`: None,
		`[]`: Zipkin, `[[]]`: Zipkin, `{"data":[]}`: Jaeger, `{"total":0,"data":[{"traceID":"1"`: Jaeger, `{"resourceLogs":[`: OTLP, `{"x":{"traceId":1,"id":2}}`: None,
		`[a],latency`: None, `[`: Zipkin, ` [ [`: Zipkin, "[\"a b\"],latency": None, `[1]`: None, `[{"a":1}]`: None, `{"id":1,"x":[[{}]],"traceId":"`: Zipkin, `{"traceID":"1","spanID":"2"}`: Jaeger,
	} {
		if got := Detect([]byte(data), "latency"); got != want {
			t.Errorf("%s: %v, want %v", data, got, want)
		}
	}
}

// TestShared tests the spans of a server that has the ID of its client's.
func TestShared(t *testing.T) {
	list, _, _ := read(`[{"traceId":"1","id":"2","shared":true,"timestamp":5,"duration":1,"kind":"SERVER"}]`)
	if len(list) != 1 || !list[0].Shared {
		t.Errorf("%+v", list)
	}
	follows := strings.Replace(jaegerAnswer, "CHILD_OF", "FOLLOWS_FROM", 1)
	if list, _, _ := read(follows); len(list) != 2 || !list[1].Follows || list[1].Parent != list[0].ID {
		t.Errorf("%+v", list)
	}
}

// TestJaegerResource tests that the spans of a process share what it has recorded of itself.
func TestJaegerResource(t *testing.T) {
	data := strings.Replace(jaegerAnswer, `"processID":"p2"`, `"processID":"p1"`, 1)
	list, _, err := read(data)
	if err != nil || len(list) != 2 || len(list[0].Resource) != 1 || len(list[1].Resource) != 1 || &list[0].Resource[0] != &list[1].Resource[0] {
		t.Errorf("%v, %+v", err, list)
	}
}

// TestLong tests that a value that does not end is an error after as many bytes as one may have.
func TestLong(t *testing.T) {
	for _, again := range []string{"x", "\n{ " + strings.Repeat(" ", 100), `{"a":`, "[" + strings.Repeat("1,", 100) + "\n"} {
		r := NewDecoder(bufio.NewReader(io.MultiReader(strings.NewReader(`{"resourceSpans":[`), &repeat{text: again})), OTLP, "latency", func(*Span) {})
		if err := r.Read(func() error { return nil }); err == nil || !strings.Contains(err.Error(), "longer than 67108864 bytes") {
			t.Errorf("%q: %v", again, err)
		}
	}
	full := errors.New("full")
	r := NewDecoder(bufio.NewReader(&repeat{text: otlpLine + "\n"}), OTLP, "latency", func(*Span) {})
	if err := r.Read(func() error { return full }); err != full {
		t.Errorf("%v, want that there is no more room", err)
	}
}

// A repeat reads a text again and again.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], r.text[r.at:])
		n += k
		r.at = (r.at + k) % len(r.text)
	}
	return n, nil
}

func fuzz(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(pretty(s)))
		f.Add([]byte(s + "\n" + s[:len(s)/2] + "\n" + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := int64(0)
		r := NewDecoder(bufio.NewReaderSize(bytes.NewReader(data), 16), format, "latency", func(s *Span) {
			n++
			if s.End < s.Start || s.Start < 0 {
				t.Errorf("a span from %d to %d", s.Start, s.End)
			}
		})
		if err := r.Read(func() error { return nil }); err != nil {
			t.Error(err)
		}
		if r.N != n || r.Skipped() > int64(len(data)) {
			t.Errorf("%d spans, %d of them counted; %d of %d bytes skipped", n, r.N, r.Skipped(), len(data))
		}
		Detect(data, "latency")
		// A good line after it is read, however bad it is.
		if r.Skipped() == int64(len(data)) {
			more := append(append(bytes.Clone(data), '\n'), seeds[0]...)
			again := NewDecoder(bufio.NewReaderSize(bytes.NewReader(more), 16), format, "latency", func(*Span) {})
			if err := again.Read(func() error { return nil }); err != nil || again.N == 0 {
				t.Errorf("after it %d spans are read, %v", again.N, err)
			}
		}
	})
}

func FuzzOTLP(f *testing.F)   { fuzz(f, OTLP, otlpLine, `{"resourceMetrics":[]}`) }
func FuzzZipkin(f *testing.F) { fuzz(f, Zipkin, zipkinArray, "["+zipkinArray+"]") }
func FuzzJaeger(f *testing.F) { fuzz(f, Jaeger, jaegerAnswer, "["+jaegerAnswer+"]") }
