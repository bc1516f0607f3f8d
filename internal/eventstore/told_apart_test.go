package eventstore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Values that differ in anything have numbers of their own, which every process finds again.
func TestNumbersTellValuesApart(t *testing.T) {
	links := []clicklog.Link{{}, {AppID: "x"}, {ID: "x"}, {Hostname: "x"}, {Prefix: "x"}, {Slug: "x"}, {Group: "x"},
		{CampaignID: "x"}, {FolderID: "x"}, {TagIDs: []string{"x"}}, {TagIDs: []string{"y"}}, {TagIDs: []string{"x", "y"}}}
	clients := []clicklog.Event{{}, {Device: "x"}, {OS: "x"}, {Browser: "x"}, {Source: "x"}, {Device: "y"}}
	words := []string{"a", "b", "c", ""}
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		// numbers has the numbers by table, as a process that has just begun finds or gives them.
		numbers := func(backward bool) (all [4][]int64) {
			known := eventstore.NewNumbers()
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				n, err := known.In(t.Context(), tx)
				if err != nil {
					return err
				}
				for table, values := range []int{len(words), len(links), len(clients), len(words)} {
					all[table] = make([]int64, values)
					for i := range values {
						if backward {
							i = values - 1 - i
						}
						var err error
						switch table {
						case 0:
							all[table][i], err = n.App(t.Context(), words[i])
						case 1:
							all[table][i], err = n.Link(t.Context(), all[0][0], &links[i])
						case 2:
							all[table][i], err = n.Client(t.Context(), &clients[i])
						case 3:
							all[table][i], err = n.Text(t.Context(), words[i])
						}
						if err != nil {
							return err
						}
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return all
		}
		given := numbers(false)
		for table, all := range given {
			sorted := slices.Sorted(slices.Values(all))
			if len(slices.Compact(sorted)) != len(all) {
				t.Errorf("table %d: different values have the numbers %d", table, all)
			}
		}
		if found := numbers(true); !slices.EqualFunc(given[:], found[:], slices.Equal) {
			t.Errorf("another process finds %d, want %d", found, given)
		}
	})
}

// The day of a text's last use moves on with that text alone, and never back.
func TestDayOfATextsLastUse(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		use := func(values ...string) {
			t.Helper()
			if err := db.InTx(t.Context(), func(tx *store.Tx) error {
				n, err := eventstore.NewNumbers().In(t.Context(), tx)
				for _, v := range values {
					if err == nil {
						_, err = n.Text(t.Context(), v)
					}
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		days := func() (all [2]int64) {
			t.Helper()
			for i, value := range []string{"a", "b"} {
				var err error
				if all[i], err = store.One(t.Context(), db, store.Value[int64],
					"SELECT used_on FROM event_text WHERE value = ?", value); err != nil {
					t.Fatal(err)
				}
			}
			return all
		}
		const day = 24 * 60 * 60
		today := storetest.Start.Unix() / day
		use("a", "b")
		if got := days(); got != [2]int64{today, today} {
			t.Errorf("used on %d, want %d", got, today)
		}
		c.Set(storetest.Start + clock.Instant(day*1_000_000))
		use("a")
		if got := days(); got != [2]int64{today + 1, today} {
			t.Errorf("used on %d, want a day later for the first", got)
		}
		c.Set(storetest.Start - clock.Instant(day*1_000_000))
		use("a", "b")
		if got := days(); got != [2]int64{today + 1, today} {
			t.Errorf("used on %d, want no day before", got)
		}
	})
}

// Texts are cut after 400 bytes, between characters, and have nothing that an engine cannot
// store.
func TestClean(t *testing.T) {
	a := strings.Repeat("a", 399)
	for text, want := range map[string]string{
		"": "", "a": "a", a + "b": a + "b", a + "bc": a + "b", a + "é": a, a + "\xff": a + "\uFFFD", "\x00a": "a", "a\x00b": "ab",
		"\xffa": "\uFFFDa", "a\xff\x00": "a\uFFFD",
	} {
		if got := eventstore.Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
