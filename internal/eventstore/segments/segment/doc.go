// Package segment reads and writes segments: Parquet files of events that never
// change. Any reader of Parquet can read them, too. It knows nothing of queries
// (package scan), or of where segments lie (package segments).
//
// # Format 1
//
// The footer's metadata has the key waymark.segment, whose value is the version of the
// format. Rows are in the order of app, at and id, and no two have all three the same.
// No value is null, and nothing is compressed.
//
//	app          INT64                         number of the app (no of event_app)
//	occurred_at  INT64, timestamp (µs, UTC)    when it happened
//	id           FIXED(6), highest byte first  random, unique with app and at
//	type         text                          click, app_open, content_view, legacy_content_load,
//	                                           recovery_created, recovery_matched
//	link         INT64                         number of the link as it was then (no of event_link)
//	visitor      INT64                         keyed hash of address and user agent, new each UTC day
//	install      INT64                         keyed hash of the SDK's install id, 0 when unknown
//	device       text                          android, ios, desktop, other, bot
//	os           text                          "" when unknown
//	browser      text                          "" when unknown
//	source       text                          browser, social, qr, app, unknown
//	country      text                          ISO 3166-1 alpha-2, or ZZ
//	referrer     text                          host, "" when none
//	rule         text                          id of the routing rule, "" when none
//	destination  text                          web, store, app, page, none
//
// Times are differences (DELTA_BINARY_PACKED), ids plain, all others indexes into a
// dictionary of the row group. Text is UTF-8. Data pages are of version 2, each with a
// checksum.
//
// # Row groups
//
// A day is one of UTC. An app with at least 16,384 events in a segment has row groups
// of its own, and so has each of its days with as many. Other apps share row groups,
// and so do other days of an app; those are never divided. No row group has more than
// 131,072 rows. So the indexes of the visitor column are numbers of distinct visitors:
// of whole days wherever these have row groups of their own or share one.
//
// # Damage
//
// A file that was cut, changed or made to harm is an error that wraps ErrDamaged, as
// far as the checksums of pages tell; a changed footer may go unnoticed unless the
// owner of the file keeps a digest of all of it. It is never a panic, an index out of
// range, or memory beyond some multiple of the file and one row group.
package segment
