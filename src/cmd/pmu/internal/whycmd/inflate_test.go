// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
)

func gzipped(t testing.TB, data io.WriterTo) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := data.WriteTo(z); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zstdStored returns a frame of zstd with data as they are, in blocks (RFC 8878, 3.1.1).
func zstdStored(data string) string {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x38} // a window of 128 KiB
	for last := byte(0); last == 0; {
		n := min(len(data), 1<<16)
		if n == len(data) {
			last = 1
		}
		h := n<<3 | int(last)
		b = append(append(b, byte(h), byte(h>>8), byte(h>>16)), data[:n]...)
		data = data[n:]
	}
	return string(b)
}

// TestCompressed tests that all that is read is read when it is compressed, too, and what is said of
// what is damaged, or cut.
func TestCompressed(t *testing.T) {
	list := planted()
	for name, data := range map[string]string{"CSV": csvOf(list), "lines": linesOf(list), "records": fileOf(t, tasksOf(list))} {
		_, want, _ := call(write(t, data))
		want, _, _ = strings.Cut(want, "\nTo look")
		for how, file := range map[string]string{"gzip": gzipped(t, strings.NewReader(data)), "zstd": zstdStored(data)} {
			status, got, errs := call("-kind", "", write(t, file))
			got, _, _ = strings.Cut(got, "\nTo look")
			if got != want || status != 0 {
				t.Errorf("%s by %s: status %d\n%s%s\nwant\n%s", name, how, status, got, errs, want)
			}
			status, got, errs = call(write(t, file[:len(file)-len(file)/4]))
			if status != 2 || !strings.Contains(got, "makes the tail") || !strings.Contains(errs, "it is compressed by "+how) {
				t.Errorf("%s by %s, cut: status %d\n%s%s", name, how, status, got, errs)
			}
		}
	}
	for _, data := range []string{"\x1f\x8b", "\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd", "\x28\xb5\x2f\xfd\xff\xff"} {
		if status, _, errs := call(write(t, data)); status != 2 || !strings.Contains(errs, "it is compressed by ") {
			t.Errorf("%q: status %d, %s", data, status, errs)
		}
	}
	// A file that zstd made, of the text "latency,a\n" and 40 times "1,2\n".
	made, err := base64.StdEncoding.DecodeString("KLUv/QRopQAAaGxhdGVuY3ksYQoxLDIBABrU/QINSOEB")
	if err != nil {
		t.Fatal(err)
	}
	_, got, errs := call(write(t, string(made)))
	contains(t, "of zstd", got+errs, "too few requests")
	contains(t, "of zstd", got+errs, "40 requests: p50 1")
}

// TestBomb tests that what comes out of a small file has a bound, whatever it would be read as.
func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it decompresses 400 MB")
	}
	for _, tt := range []struct{ head, again, err string }{
		{"latency,a\n", "\n", "which is no file of requests"},
		{"latency,a\n", "1,2\n", "the table takes more than"},
		{"latency,a\n", "\x00", "is longer than"},
		{`{"resourceSpans":[]}` + "\n", `{"resourceMetrics":[]}` + "\n", "which is no file of requests"},
		{`{"resourceSpans":[]}` + "\n", "[", "which is no file of requests"},
	} {
		e := &limited{text: tt.head, again: strings.Repeat(tt.again, 1000), left: 80 << 20}
		if status, _, errs := call("-table", "20000000", write(t, gzipped(t, e))); status == 0 || !strings.Contains(errs, tt.err) {
			t.Errorf("%q and %q again: status %d, %s, want %s", tt.head, tt.again, status, errs, tt.err)
		}
	}
	_, _, errs := call("-max", "100000", write(t, gzipped(t, strings.NewReader(csvOf(planted())))))
	contains(t, "messages", errs, "more than 100000 bytes come out of it by gzip: raise -max")
}

// A limited writes a text, and another one again and again.
type limited struct {
	text, again string
	left        int
}

func (l *limited) WriteTo(w io.Writer) (n int64, err error) {
	_, err = io.WriteString(w, l.text)
	for l.left > 0 && err == nil {
		_, err = io.WriteString(w, l.again)
		l.left -= len(l.again)
	}
	return n, err
}

// TestSpanErrors tests that an error names the format, and what is missing.
func TestSpanErrors(t *testing.T) {
	for _, tt := range []struct{ name, data, err string }{
		{"OTLP", `{"resourceSpans":[]}`, "it is JSON of OTLP, and there are no spans in it"},
		{"metrics", `{"resourceMetrics":[]}` + "\n" + `{"resourceMetrics":[]}`, "2 objects skipped that are of other signals than spans"},
		{"Zipkin", "[]", "it is JSON of Zipkin v2, and there are no spans in it"},
		{"Zipkin, no duration", `[{"traceId":"1","id":"2","timestamp":1},{"traceId":"1","id":"3"}]`, "it is JSON of Zipkin v2, and of none of its 2 spans there is all that it takes: 1 lack a duration, 1 lack a timestamp"},
		{"Jaeger", `{"data":[],"total":0}`, "it is JSON of Jaeger, and there are no spans in it"},
		{"Jaeger, no start", `{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2"}]}]}`, "of none of its 1 spans there is all that it takes: 1 lack a startTime"},
		{"array", `[{"latency":1}]`, "it is an array of JSON, and no spans of Zipkin v2 or Jaeger: in a table there is an object a line"},
		{"pretty table", "{\n  \"latency\": 1\n}\n", "it is JSON, and no spans of OTLP, Zipkin v2 or Jaeger; for a table with an object a line: "},
	} {
		if status, _, errs := call(write(t, tt.data)); status != 2 || !strings.Contains(errs, tt.err) {
			t.Errorf("%s: status %d, %s, want %q", tt.name, status, errs, tt.err)
		}
	}
	// A bad line at first costs no more than itself.
	list := planted()
	_, want, _ := call(write(t, linesOf(list)))
	status, got, errs := call(write(t, "{\"latency\":\n"+linesOf(list)))
	if got != want || status != 0 || !strings.Contains(errs, "12 bytes skipped, which were damaged or cut") {
		t.Errorf("with a bad line at first: status %d, %s\n%s", status, errs, got)
	}
}

func FuzzInflate(f *testing.F) {
	f.Add([]byte(gzipped(f, strings.NewReader("latency,a\n1,2\n"))))
	f.Add([]byte(zstdStored("latency,a\n1,2\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		status, _, _ := callWith(string(data), "-p", "0.9", "-")
		if status < 0 || status > 2 {
			t.Error(fmt.Sprint(status))
		}
	})
}
