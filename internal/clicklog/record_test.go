package clicklog

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
)

func sample() *Event {
	return &Event{
		At: 1_795_176_000_123_000, Type: Click,
		Link: Link{
			ID: "0198b3d2-6f0e-7c3a-9a51-0c9f5e1d2b77", AppID: "app_5fk2m9q1x7", Hostname: "go.example.com",
			Prefix: "l", Slug: "summer-sale", Group: "main", CampaignID: "0198b3d2-6f0e-7c3a-9a51-0c9f5e1d2b78",
			TagIDs: []string{"0198b3d2-6f0e-7c3a-9a51-0c9f5e1d2b79"},
		},
		Visitor: -7_123_456_789_012_345_678, Device: "ios", OS: "iOS", Browser: "Safari", Source: "browser",
		Country: "PT", ReferrerHost: "www.example.org", Destination: "web",
	}
}

func TestRecordRoundTrip(t *testing.T) {
	full := sample()
	full.ID, full.Install, full.Link.FolderID, full.RuleID = 1<<47-1, math.MinInt64, "folder", "rule"
	full.Link.TagIDs = []string{"a", "", "c"}
	for name, e := range map[string]*Event{
		"full": full, "sample": sample(), "zero": {}, "odd text": {Type: "\x00\xff",
			Device: strings.Repeat("é", 20_000)},
		"extremes": {ID: -1, At: math.MinInt64, Visitor: math.MaxInt64, Install: -1},
	} {
		record, err := appendRecord([]byte("before"), e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		record = record[len("before"):]
		var got Event
		if size, err := decodeRecord(append(record, "after"...), &got); err != nil || size != len(record) {
			t.Fatalf("%s: size %d, %v; want %d", name, size, err, len(record))
		}
		if !reflect.DeepEqual(&got, e) {
			t.Errorf("%s: got %+v, want %+v", name, got, *e)
		}
	}
}

// A payload is read whole or not at all: none that is cut, or goes on, and no count of tags that there is no room for.
func TestPayloadIsWhole(t *testing.T) {
	e := sample()
	e.Link.TagIDs, e.Limited, e.Unstored = []string{"a", "", "c"}, false, false
	record, err := appendRecord(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	payload := record[headerSize:]
	tags := len(payload) - len("\x03\x01a\x00\x01c")
	var got Event
	for n := range payload {
		if decodePayload(payload[:n:n], &got) {
			t.Errorf("%d of %d bytes are an event", n, len(payload))
		}
	}
	for name, wrong := range map[string][]byte{
		"no flag":           append(slices.Clone(payload), 0),
		"more than flags":   append(slices.Clone(payload), flagLimited, flagLimited),
		"more tags":         append(append(slices.Clone(payload[:tags]), 4), payload[tags+1:]...),
		"tags without room": append(slices.Clone(payload[:tags]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
	} {
		if decodePayload(wrong, &got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !decodePayload(payload, &got) || !decodePayload(append(slices.Clone(payload), flagLimited), &got) {
		t.Error("the whole payload is no event")
	}
}

// A field added to Event and forgotten in the record would be lost in silence.
func TestRecordHasEveryField(t *testing.T) {
	var e Event
	fill(reflect.ValueOf(&e).Elem())
	record, err := appendRecord(nil, &e)
	if err != nil {
		t.Fatal(err)
	}
	var got Event
	if _, err := decodeRecord(record, &got); err != nil || !reflect.DeepEqual(got, e) {
		t.Fatalf("got %+v, %v; want %+v", got, err, e)
	}
}

func fill(v reflect.Value) {
	for _, f := range v.Fields() {
		switch f.Kind() {
		case reflect.Struct:
			fill(f)
		case reflect.String:
			f.SetString("x")
		case reflect.Int64:
			f.SetInt(7)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		}
	}
}

// Records from before there were flags stay readable, and are still written.
func TestRecordWithoutFlags(t *testing.T) {
	text := func(s string) string { return string(rune(len(s))) + s }
	old := "\x01" + "\x04" + "\x03\x00\x00\x00\x00\x00\x00\x00" + "\x00" + text("click") +
		text("l") + text("a") + strings.Repeat("\x00", 14) + "\x01" + text("t")
	want := Event{ID: 1, At: 2, Visitor: 3, Type: Click, Link: Link{ID: "l", AppID: "a", TagIDs: []string{"t"}}}
	var got Event
	if !decodePayload([]byte(old), &got) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if record, err := appendRecord(nil, &want); err != nil || string(record[headerSize:]) != old {
		t.Errorf("written as %q, %v", record[headerSize:], err)
	}
	want.Limited = true
	if record, err := appendRecord(nil, &want); err != nil || string(record[headerSize:]) != old+"\x01" {
		t.Errorf("with a limit written as %q, %v", record[headerSize:], err)
	}
	want.Unstored = true
	if record, err := appendRecord(nil, &want); err != nil || string(record[headerSize:]) != old+"\x03" {
		t.Errorf("with a limit, not to be stored, written as %q, %v", record[headerSize:], err)
	}
	want.Limited = false
	if !decodePayload([]byte(old+"\x02"), &got) || !reflect.DeepEqual(got, want) {
		t.Errorf("not to be stored: got %+v, want %+v", got, want)
	}
	// A later version may have set other flags as well.
	if !decodePayload([]byte(old+"\xfe\x01"), &got) || !reflect.DeepEqual(got, want) {
		t.Errorf("with unknown flags: got %+v, want %+v", got, want)
	}
	for _, flags := range []string{"\x00", "\x80", "\x01\x01"} {
		if decodePayload([]byte(old+flags), &got) {
			t.Errorf("flags %q were taken", flags)
		}
	}
}

func TestRecordTooLarge(t *testing.T) {
	e := Event{ReferrerHost: strings.Repeat("x", 64<<10)}
	if b, err := appendRecord([]byte("before"), &e); err == nil || string(b) != "before" {
		t.Fatalf("got %d bytes, %v; want an error and nothing added", len(b), err)
	}
}

// The largest record that can be written can be read.
func TestLargestRecord(t *testing.T) {
	var largest []byte
	n := 64<<10 - 1000
	for ; ; n++ {
		record, err := appendRecord(nil, &Event{ReferrerHost: strings.Repeat("x", n)})
		if err != nil {
			break
		}
		largest = record
	}
	if len(largest) != 8+64<<10 {
		t.Fatalf("the largest record has %d bytes", len(largest))
	}
	var e Event
	if size, err := decodeRecord(largest, &e); err != nil || size != len(largest) || len(e.ReferrerHost) != n-1 {
		t.Errorf("%d bytes with a text of %d, %v", size, len(e.ReferrerHost), err)
	}
}

// No bit of a record may change unnoticed.
func TestRecordDetectsEveryFlippedBit(t *testing.T) {
	record, err := appendRecord(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(record) * 8 {
		record[bit/8] ^= 1 << (bit % 8)
		var e Event
		if _, err := decodeRecord(record, &e); err == nil {
			t.Fatalf("bit %d flipped: no error", bit)
		}
		record[bit/8] ^= 1 << (bit % 8)
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range []*Event{sample(), {}, {Limited: true}, {Limited: true, Unstored: true},
		{Type: Click, At: clock.Instant(-1), Link: Link{TagIDs: []string{"a", "b"}}}} {
		record, err := appendRecord(nil, e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
		f.Add(record[headerSize:])
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Event
		if size, err := decodeRecord(b, &e); err == nil && (size <= headerSize || size > len(b)) {
			t.Fatalf("size %d of %d bytes", size, len(b))
		}
		// A checksum keeps the fuzzer out of the payload, so also try without.
		if len(b) > 64<<10 || !decodePayload(b, &e) {
			return
		}
		record, err := appendRecord(nil, &e)
		if err != nil {
			t.Fatal(err)
		}
		var again Event
		if _, err := decodeRecord(record, &again); err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("got %+v, %v; want %+v", again, err, e)
		}
	})
}

// Behind damaged bytes a record may begin at the end of what was read, also the longest one, of
// which one byte is still missing.
func TestSeekPartOfARecord(t *testing.T) {
	longest := make([]byte, 8+64<<10)
	binary.LittleEndian.PutUint32(longest, 64<<10)
	for _, c := range []struct {
		damaged int
		part    []byte
		want    int
	}{
		{1, longest[:9], 1}, {5, longest[:9], 1}, {1, longest[:len(longest)-1], 1}, {7, longest[:len(longest)-1], 7},
		{7, longest[:len(longest)-2], 6},
	} {
		if at, found := seekRecord(append(make([]byte, c.damaged), c.part...)); at != c.want || found {
			t.Errorf("%d bytes behind %d damaged ones: %d, %t; want %d", len(c.part), c.damaged, at, found, c.want)
		}
	}
}
