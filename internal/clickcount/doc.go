// Package clickcount counts the human clicks of links that have a limit
// (maxClicks, completions.md §3), so that no visitor is let through beyond it.
// It owns the table click_count and keeps used_up of a link. It does not decide what a visitor gets: package route does.
//
// # One process
//
// A click is taken in memory, before it is written to the click log and the
// visitor answered. The count in the database comes from the logged events, not
// from memory: the loader of the log hands the events to Count, which adds
// those beyond the position to which the log was counted before (package loaded). So every visitor who was let through is
// counted, also after a crash, and an event that comes again is not counted
// twice.
//
// For a link that is in use the process knows its own clicks, and how many of
// them the database has counted. The rest of the number in the database are
// clicks of other processes:
//
//	total = (database - own that it has) + own
//
// A starting process finds the clicks of the one before it in the log that was
// left behind. Until those are counted it does not know any number, and says so
// (Counter.Clicks). From then on a link's first use reads its number and
// everything else happens in memory, also while the database is away. With one
// process the number is exact.
//
// # Several processes
//
// They learn of each other's clicks through the database: each counts its own
// within some 100 ms and looks at the numbers of the links in use every 500 ms.
// So with several processes a link may exceed its limit by at most the clicks
// that arrive within one second, as long as the database keeps up. To be exact,
// each click would need a round trip to the database, and no click could pass
// while the database is away.
//
// # A database that went back
//
// When an older copy takes the place of the database (a restore, or a standby
// that was behind), numbers there become smaller. A process never believes a
// smaller number than it knew, and stores the one that it knew.
package clickcount
