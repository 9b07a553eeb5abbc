// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goClock is {1:3 7:2}, and goMember its member.
var (
	goClock  = clockOf(map[uint16]uint32{1: 3, 7: 2}, false)
	goMember = "go=AgABAAAAAwAHAAAAAg"
)

func TestParseTracestate(t *testing.T) {
	k256 := strings.Repeat("k", 256)
	v256 := strings.Repeat("v", 256)
	for _, tt := range []struct {
		name, in string
		clock    bool
		rest     string
		err      error
	}{
		{"empty", "", false, "", nil},
		{"empty members", " ,\t, ,", false, "", nil},
		{"clock", goMember, true, "", nil},
		{"first", goMember + ",a=1,b=2", true, "a=1,b=2", nil},
		{"last", "a=1,b=2," + goMember, true, "a=1,b=2", nil},
		{"between", "a=1," + goMember + ",b=2", true, "a=1,b=2", nil},
		{"none", "a=1,b=2", false, "a=1,b=2", nil},
		{"spaces", "\t a=1 \t, " + goMember + "\t ,,b=2\t,", true, "a=1,b=2", nil},
		{"spaces in values", "a=  1 1 ,b=2 ", false, "a=  1 1,b=2", nil},
		{"same key of others", "a=1,a=2", false, "a=1,a=2", nil},
		{"like ours", "g=1,goo=1,go@go=1,0go=1", false, "g=1,goo=1,go@go=1,0go=1", nil},
		{"tenants", "fw529a3039@dt=FfKc,0t@s=1,a_-*/@b=2", false, "fw529a3039@dt=FfKc,0t@s=1,a_-*/@b=2", nil},
		{"printable", "a=!\"#$%&'()*+-./09:;<>?@AZ[\\]^_`az{|}~", false, "a=!\"#$%&'()*+-./09:;<>?@AZ[\\]^_`az{|}~", nil},
		{"long key", k256[1:] + "=v", false, k256[1:] + "=v", nil},
		{"longest key", k256 + "=v," + goMember, true, k256 + "=v", nil},
		{"longest value", "k=" + v256, false, "k=" + v256, nil},

		// Something is wrong with the list: the clock is good nevertheless, the list isn't.
		{"no value", "a=1,b," + goMember, true, "", errStateMember},
		{"empty value", goMember + ",a=", true, "", errStateMember},
		{"blank value", goMember + ",a=  ", true, "", errStateMember},
		{"no key", "=1," + goMember, true, "", errStateMember},
		{"space after key", "a =1," + goMember, true, "", errStateMember},
		{"two equals", "a=1=2," + goMember, true, "", errStateMember},
		{"upper-case key", "A=1," + goMember, true, "", errStateMember},
		{"key begins with sign", "@a=1," + goMember, true, "", errStateMember},
		{"dot in key", "a.b=1," + goMember, true, "", errStateMember},
		{"control in value", "a=1\n2," + goMember, true, "", errStateMember},
		{"tab in value", "a=1\t2," + goMember, true, "", errStateMember},
		{"newline at the end", "a=1\n," + goMember, true, "", errStateMember},
		{"delete in value", "a=\x7f," + goMember, true, "", errStateMember},
		{"not ASCII", "a=é," + goMember, true, "", errStateMember},
		{"key too long", k256 + "k=1," + goMember, true, "", errStateMember},
		{"value too long", "a=" + v256 + "v," + goMember, true, "", errStateMember},
		{"bad without clock", "a=1,b", false, "", errStateMember},

		// Something is wrong with the clock: the list is passed on.
		{"two clocks", goMember + ",a=1," + goMember, false, "a=1", errStateTwice},
		{"two bad clocks", "go=x,a=1,go=y", false, "a=1", errStateTwice},
		{"no clock", "go=,a=1", false, "a=1", errStateClock},
		{"no form", "go=_,a=1", false, "a=1", errStateClock},
		{"padding", "go=AA==,a=1", false, "a=1", errStateClock},
		{"standard alphabet", "go=Af////////8,a=1", false, "a=1", errStateClock},
		{"bits left over", "go=AB,a=1", false, "a=1", errStateClock},
		{"line", "go=Ag\nABAAAAAwAHAAAAAg,a=1", false, "a=1", errStateClock},
		{"space", "go= AgABAAAAAwAHAAAAAg,a=1", false, "a=1", errStateClock},
		{"more than a clock", goMember + "AA,a=1", false, "a=1", errStateClock},
		{"more than any clock", "go=" + v256 + ",a=1", false, "a=1", errStateClock},
		{"more than any value", "go=" + v256 + "v,a=1", false, "a=1", errStateClock},
		{"server 0", "go=AQAAAAAAAQ,a=1", false, "a=1", errStateClock},

		{"more than any list", goMember + strings.Repeat(",", maxStateIn), false, "", errStateSize},
	} {
		clock, has, rest, err := ParseTracestate(tt.in)
		want := Clock{}
		if tt.clock {
			want = goClock
		}
		if clock != want || has != tt.clock || rest != tt.rest || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q:\n got %v %v, %q, %v\nwant %v %v, %q, %v", tt.name, tt.in, clock, has, rest, err, want, tt.clock, tt.rest, tt.err)
		}
	}

	// Both are wrong, and both are said.
	_, has, rest, err := ParseTracestate("go=x,b")
	if has || rest != "" || !errors.Is(err, errStateClock) || !errors.Is(err, errStateMember) {
		t.Errorf("got %v, %q, %v", has, rest, err)
	}
}

// nMembers returns members m<i>=v.
func nMembers(n int) string {
	m := make([]string, n)
	for i := range m {
		m[i] = fmt.Sprintf("m%d=v", i)
	}
	return strings.Join(m, ",")
}

func TestTracestateMembers(t *testing.T) {
	for _, tt := range []struct {
		in  string
		has bool
		err error
	}{
		{nMembers(31) + "," + goMember, true, nil},
		{nMembers(32), false, nil},
		{nMembers(32) + "," + goMember, true, errStateMembers},
		{goMember + "," + nMembers(32), true, errStateMembers},
		{nMembers(33), false, errStateMembers},
		{nMembers(33) + "," + goMember, true, errStateMembers},
		{",,,," + nMembers(32) + strings.Repeat(" ,", 40), false, nil},
	} {
		clock, has, rest, err := ParseTracestate(tt.in)
		if has != tt.has || has && clock != goClock || !errors.Is(err, tt.err) || (rest == "") != (tt.err != nil) {
			t.Errorf("%s: %v %v %q, %v", tt.in, clock, has, rest, err)
		}
	}
	// 32 came, and with ours there would be one too many.
	if got, want := string(AppendTracestate(nil, &goClock, nMembers(32))), goMember+","+nMembers(31); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(AppendTracestate(nil, nil, nMembers(33))), nMembers(32); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// If a long one has to go anyway, it is not one more.
	long := "x=" + strings.Repeat("l", 255)
	if got, want := string(AppendTracestate(nil, &goClock, nMembers(15)+","+long+",y="+long[2:]+","+nMembers(15))),
		goMember+","+nMembers(15)+","+long+","+nMembers(15); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendTracestate(t *testing.T) {
	v := func(n int) string { return strings.Repeat("v", n) }
	var full Clock
	for s := range uint16(MaxClock) {
		full.advance(65534-s, math.MaxUint32)
	}
	fullMember := "go=" + base64.RawURLEncoding.EncodeToString(mustBytes(full.AppendBinary(nil)))
	if len(fullMember) != 3+66 {
		t.Fatalf("%s: %d characters", fullMember, len(fullMember))
	}
	l128, l129 := "l="+v(126), "l="+v(127)
	if c, has, _, err := ParseTracestate(fullMember); c != full || !has || err != nil {
		t.Errorf("%s: %v %v, %v; want %v", fullMember, c, has, err, full)
	}
	if c, has, _, err := ParseTracestate(fullMember + "AA"); has || !errors.Is(err, errStateClock) {
		t.Errorf("%sAA: %v %v, %v; want error %v", fullMember, c, has, err, errStateClock)
	}
	for _, tt := range []struct {
		name string
		c    *Clock
		rest string
		want string
	}{
		{"nothing", nil, "", ""},
		{"no clock", nil, "a=1", "a=1"},
		{"zero clock", &Clock{}, "", "go=AA"},
		{"clock", &goClock, "", goMember},
		{"both", &goClock, "b=2,a=1", goMember + ",b=2,a=1"},
		{"bad clock", &Clock{N: 9}, "b=2", "b=2"},
		{"bad rest", &goClock, "a=1,b\r\nX: y,\r\n,c=1\r\nX:y,go=AA,d=4", goMember + ",a=1,d=4"},

		{"512 without clock", nil, "a=" + v(254) + ",b=" + v(253), "a=" + v(254) + ",b=" + v(253)},
		{"513 without clock", nil, "a=" + v(254) + ",b=" + v(254), "a=" + v(254)},
		{"512", &full, "a=" + v(126) + ",b=" + v(126) + ",c=" + v(126) + ",d=" + v(53), fullMember + ",a=" + v(126) + ",b=" + v(126) + ",c=" + v(126) + ",d=" + v(53)},
		{"513", &full, "a=" + v(126) + ",b=" + v(126) + ",c=" + v(126) + ",d=" + v(54), fullMember + ",a=" + v(126) + ",b=" + v(126) + ",c=" + v(126)},
		{"long ones first", &full, l129 + "," + l128 + "," + l128 + "," + l128, fullMember + "," + l128 + "," + l128 + "," + l128},
		{"long ones from the end", &full, l129 + "," + l128 + "," + l129 + "," + l128, fullMember + "," + l129 + "," + l128 + "," + l128},
		{"no long ones", &full, l128 + ",a=1," + l128 + "," + l128 + "," + l128, fullMember + "," + l128 + ",a=1," + l128 + "," + l128},
		{"the longest", &full, strings.Repeat("k", 256) + "=" + v(256) + ",a=1", fullMember + ",a=1"},
	} {
		got := string(AppendTracestate([]byte("x"), tt.c, tt.rest))
		if got != "x"+tt.want || len(tt.want) > 512 {
			t.Errorf("%s: %d characters, want %d\n got %s\nwant x%s", tt.name, len(got)-1, len(tt.want), got, tt.want)
		}
	}
}

func mustBytes(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// The slow way to do it, by the words of the W3C.
var stateMember = regexp.MustCompile(`^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$`)

func slowParseTracestate(s string) (clock Clock, has bool, rest string, ok bool) {
	if len(s) > 16447 {
		return Clock{}, false, "", false
	}
	var foreign, ours []string
	listOK, clockOK := true, true
	for m := range strings.SplitSeq(s, ",") {
		m = strings.Trim(m, " \t")
		if m == "" {
			continue
		}
		if v, ok := strings.CutPrefix(m, "go="); ok {
			ours = append(ours, v)
			continue
		}
		foreign = append(foreign, m)
		listOK = listOK && stateMember.MatchString(m)
	}
	listOK = listOK && len(foreign)+len(ours) <= 32
	if len(ours) > 1 {
		clockOK = false
	} else if len(ours) == 1 {
		b, err := base64.RawURLEncoding.Strict().DecodeString(ours[0])
		clock, clockErr := ParseClock(b)
		clockOK = err == nil && clockErr == nil && !strings.ContainsAny(ours[0], "\r\n")
		if clockOK {
			return clock, true, slowTrim("", foreign, listOK), listOK
		}
	}
	return Clock{}, false, slowTrim("", foreign, listOK), listOK && clockOK
}

// slowTrim returns the list that begins with mine, if that is not empty.
func slowTrim(mine string, foreign []string, ok bool) string {
	if !ok {
		return ""
	}
	whole := func() string {
		if mine == "" {
			return strings.Join(foreign, ",")
		}
		return strings.Join(append([]string{mine}, foreign...), ",")
	}
	for len(whole()) > 512 {
		drop := len(foreign) - 1
		for i, m := range foreign {
			if len(m) > 128 {
				drop = i // the last one of them
			}
		}
		foreign = slices.Delete(slices.Clone(foreign), drop, drop+1)
	}
	for strings.Count(whole(), ",") >= 32 {
		foreign = foreign[:len(foreign)-1]
	}
	return whole()
}

// checkTracestate compares with the slow way, and passes on what has come.
func checkTracestate(t *testing.T, s string) {
	t.Helper()
	clock, has, rest, err := ParseTracestate(s)
	wantClock, wantHas, wantRest, ok := slowParseTracestate(s)
	if clock != wantClock || has != wantHas || rest != wantRest || (err == nil) != ok {
		t.Fatalf("%q:\n got %v %v, %q, %v\nwant %v %v, %q, %v", s, clock, has, rest, err, wantClock, wantHas, wantRest, ok)
	}
	var foreign []string
	if rest != "" {
		foreign = strings.Split(rest, ",")
	}
	clock.Tick(8)
	mine := "go=" + base64.RawURLEncoding.EncodeToString(mustBytes(clock.AppendBinary(nil)))
	out := string(AppendTracestate(nil, &clock, rest))
	if want := slowTrim(mine, foreign, true); out != want {
		t.Fatalf("%q:\npassed on %q,\nwant      %q", s, out, want)
	}
	got, has, rest2, err := ParseTracestate(out)
	if got != clock || !has || !strings.HasPrefix(rest, rest2) && len(rest)+len(mine) < 512 || err != nil {
		t.Fatalf("%q:\n got %v %v, %q, %v\nwant %v, %q", out, got, has, rest2, err, clock, rest)
	}
	if again := string(AppendTracestate(nil, &got, rest2)); again != out {
		t.Fatalf("%q comes and %q goes", out, again)
	}
	// A rest that is not ours to trust makes no bad header.
	out = string(AppendTracestate(nil, nil, s))
	if got, has, _, err := ParseTracestate(out); has || err != nil {
		t.Fatalf("%q: passed on as %q: %v %v, %v", s, out, got, has, err)
	}
}

func TestTracestateRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var good, bad int
	for range 3000 {
		var members []string
		for range r.IntN(6) + r.IntN(2)*r.IntN(32) {
			m := string(rune('a'+r.IntN(26))) + "=" + strings.Repeat("v", 1+r.IntN(8)+r.IntN(2)*r.IntN(150))
			switch r.IntN(100) {
			case 0:
				m = m[:r.IntN(len(m)+1)]
			case 1:
				m = "go=AA"
			case 2:
				m = ""
			case 3, 4:
				m = goMember
			case 5:
				m = " " + m + "\t"
			case 6:
				m = m[:1] + " " + m[1:]
			}
			members = append(members, m)
		}
		s := strings.Join(members, ",")
		if _, _, _, err := ParseTracestate(s); err == nil {
			good++
		} else {
			bad++
		}
		checkTracestate(t, s)
	}
	if good < 300 || bad < 300 {
		t.Errorf("%d good lists, %d bad ones: the test is too weak", good, bad)
	}
}

func TestTracestateAllocs(t *testing.T) {
	in := goMember + ",a=1,b=2"
	buf := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(100, func() {
		c, has, rest, err := ParseTracestate(in)
		if !has || err != nil {
			panic("no clock")
		}
		buf = AppendTracestate(buf[:0], &c, rest)
		if string(buf) != in {
			panic("wrong list")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
