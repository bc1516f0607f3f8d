package eventstore

import (
	"slices"

	"github.com/waymarkhq/waymark/internal/clicklog"
)

// Types and Destinations are those that this version knows. Engines may store one as
// its place in the list, for good: only append. Place 0 stands for what a newer version
// may have written to the log.
var (
	Types = []clicklog.EventType{
		"", clicklog.Click, clicklog.AppOpen, clicklog.ContentView, clicklog.LegacyContentLoad,
		clicklog.RecoveryCreated, clicklog.RecoveryMatched,
	}
	Destinations = []string{"none", "web", "store", "app", "page"}
)

// Stored returns an event as every engine keeps it: with texts in the form of Clean, a
// type, a destination and a country that this version knows, and without Limited.
func Stored(e *clicklog.Event) clicklog.Event {
	s := *e
	for _, text := range []*string{
		&s.Device, &s.OS, &s.Browser, &s.Source, &s.ReferrerHost, &s.RuleID, &s.Link.ID, &s.Link.AppID,
		&s.Link.Hostname, &s.Link.Prefix, &s.Link.Slug, &s.Link.Group, &s.Link.CampaignID, &s.Link.FolderID,
	} {
		*text = Clean(*text)
	}
	s.Link.TagIDs = make([]string, len(e.Link.TagIDs))
	for i, tag := range e.Link.TagIDs {
		s.Link.TagIDs[i] = Clean(tag)
	}
	s.Type, s.Destination = Known(Types, s.Type), Known(Destinations, s.Destination)
	s.Country, s.Limited = Country(s.Country), false
	return s
}

// PlaceIn returns where v stands in a list, 0 when it does not.
func PlaceIn[T comparable](list []T, v T) int { return max(slices.Index(list, v), 0) }

// Known returns v when it is in a list, what stands at place 0 when it is not.
func Known[T comparable](list []T, v T) T { return list[PlaceIn(list, v)] }

// Country makes everything that is not two capital letters the unknown country.
func Country(code string) string {
	if len(code) == 2 && code[0] >= 'A' && code[0] <= 'Z' && code[1] >= 'A' && code[1] <= 'Z' {
		return code
	}
	return "ZZ"
}
