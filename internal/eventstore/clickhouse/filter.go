package clickhouse

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waymarkhq/waymark/internal/eventstore"
)

// quoted writes a text as ClickHouse reads it.
var quoted = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`)

// text returns a text as a literal.
func text(s string) string { return "'" + quoted.Replace(s) + "'" }

// texts returns a set of texts as a list for IN.
func texts(set map[string]bool) string {
	list := slices.Sorted(maps.Keys(set))
	for i, s := range list {
		list[i] = text(s)
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// numbers returns numbers as a list for IN.
func numbers[T ~int64](list []T) string {
	var b []byte
	for i, n := range list {
		b = strconv.AppendInt(append(b, "(,"[min(i, 1)]), int64(n), 10)
	}
	return string(append(b, ')'))
}

// where returns the conditions of a filter, with literals.
func where(f *eventstore.Filter) string {
	w := "app = " + text(f.AppID) + " AND at >= " + strconv.FormatInt(int64(f.Start), 10) + " AND at < " +
		strconv.FormatInt(int64(f.End), 10)
	equal := func(column, value string) {
		if value != "" {
			w += " AND " + column + " = " + text(value)
		}
	}
	equal("link_group", f.Group)
	equal("link", f.LinkID)
	equal("hostname", f.Hostname)
	equal("campaign", f.CampaignID)
	equal("folder", f.FolderID)
	equal("device", f.Device)
	equal("source", f.Source)
	equal("country", f.Country)
	equal("type", f.EventType)
	if f.Prefix != nil {
		w += " AND prefix = " + text(*f.Prefix)
	}
	if f.Device == "" {
		w += " AND device <> 'bot'"
	}
	if f.TagID != "" {
		w += " AND has(tags, " + text(f.TagID) + ")"
	}
	return w
}
