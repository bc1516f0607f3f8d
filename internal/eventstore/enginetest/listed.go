package enginetest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// pages lists all events that a filter chooses in pages of a size, and compares each
// page with the reference.
func (s *suite) pages(t *testing.T, e eventstore.Engine, f eventstore.Filter, size int) (n int) {
	t.Helper()
	var before *eventstore.Place
	for {
		got, err := e.List(t.Context(), f, before, size)
		want, _ := s.ref.List(t.Context(), f, before, size)
		if err != nil {
			t.Fatalf("list %+v before %v: %v", f, before, err)
		}
		for i := range got {
			got[i].Link.AppID = f.AppID // those of a list know their app
		}
		for i := range want {
			want[i].Link.AppID = f.AppID
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("list %+v before %v:\n got %+v\nwant %+v", f, before, got, want)
		}
		if n += len(want); len(want) == 0 {
			return n
		}
		before = &want[len(want)-1].Place
	}
}

// Lists are newest first, by instant and then id, and go on after any place.
func (s *suite) list(t *testing.T) {
	e := s.open(t)
	for i := range 60 {
		s.append(t, e, Batch(s.click("list", func(e *clicklog.Event) {
			e.At += clock.Instant(i * 7 % 12)
			e.Device = []string{"ios", "android", "bot"}[i%3]
			e.Install, e.ReferrerHost, e.RuleID = int64(i%2)*9, []string{"", "example.org"}[i%2], "rule"
			e.Link.TagIDs = []string{"tag"}
		})))
	}
	for _, size := range []int{1, 7, 40, 41} {
		if n := s.pages(t, e, all("list"), size); n != 40 {
			t.Errorf("%d events in pages of %d, want 40", n, size)
		}
	}
	f := all("list")
	f.Device = "android"
	if n := s.pages(t, e, f, 3); n != 20 {
		t.Errorf("%d events of Android, want 20", n)
	}
	// A place need not be one of an event, nor in the period.
	f.Start, f.End = Start+2, Start+10
	for at := Start; at < Start+12; at++ {
		for _, id := range []int64{0, s.lastID / 2, 1<<47 - 1} {
			before := &eventstore.Place{At: at, ID: id}
			got, err := e.List(t.Context(), f, before, 5)
			want, _ := s.ref.List(t.Context(), f, before, 5)
			if err != nil || len(got) != len(want) || len(got) > 0 && got[0].Place != want[0].Place {
				t.Errorf("before %+v: %v, %v; want %v", before, got, err, want)
			}
		}
	}
}

// untagged makes no difference between no tags and an empty list.
func untagged(l clicklog.Link) clicklog.Link {
	if len(l.TagIDs) == 0 {
		l.TagIDs = nil
	}
	return l
}

// Links tells what a link looked like last.
func (s *suite) links(t *testing.T) {
	e := s.open(t)
	for i := range 6 {
		s.append(t, e, Batch(
			s.click("links", func(e *clicklog.Event) {
				e.At += clock.Instant(i)
				e.Link.ID, e.Link.Slug, e.Link.TagIDs = fmt.Sprint(i%2), fmt.Sprint("slug-", i), []string{"a", fmt.Sprint(i)}
				e.Link.FolderID = "folder"
			}),
			s.click("other links", func(e *clicklog.Event) { e.Link.ID = "3" }),
			s.click("links", func(e *clicklog.Event) { e.Link.ID, e.Device = "4", "bot" })))
	}
	for _, ids := range [][]string{{"0", "1", "2", "3", "4"}, {"1"}, {"2"}, {"0", "0"}} {
		got, err := e.Links(t.Context(), "links", ids)
		want, _ := s.ref.Links(t.Context(), "links", ids)
		if err != nil || len(got) != len(want) {
			t.Errorf("links %v:\n got %+v, %v\nwant %+v", ids, got, err, want)
		}
		for id, link := range want {
			if !reflect.DeepEqual(untagged(got[id]), link) {
				t.Errorf("link %s: got %+v, want %+v", id, got[id], link)
			}
		}
	}
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	if got, err := e.Links(t.Context(), "links", ids); len(got) != 3 || err != nil {
		t.Errorf("%d links of 1000 ids, %v; want 3", len(got), err)
	}
}
