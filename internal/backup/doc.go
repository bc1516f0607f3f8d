// Package backup copies an installation into a folder or to S3, beside its processes, tells
// whether such a copy is damaged, and makes an installation of it again.
//
// # The folder
//
// manifest.json names every other file with its size and digest. It is written last: a
// folder without it is no backup. Besides, there are database/ (the SQLite file, or the
// tables of PostgreSQL), and what the data folder has under the same names: assets/,
// events/, clicks/ and session-key.json.
//
// In S3 these are the objects under a prefix. Each file is made in a temporary folder, sent and
// removed, so that there is never more than one on this machine; of the database it is the
// whole copy.
//
// # Order
//
// Nothing that was acknowledged before the backup began is missing from it:
//
//  1. Images and the click log. What was there when the backup began is copied here, or is
//     in the database from then on: clicks leave the log when the database has them.
//  2. The database, as it is at one instant.
//  3. Images and the click log again: what is new, or has grown. The database may name an
//     image that came after the first step. Clicks that are in both are loaded once, because
//     the database knows how far each log is loaded.
//  4. The files of events that the copied database names. None of them is deleted while the
//     backup lasts.
//
// # One backup after the other
//
// Each backup has a place of its own and is whole: any of them can be deleted at any time.
// Images and files of events get their names once and never change. In a folder, those that the
// newest backup beside it has, and that are not damaged there, are not written again: they become
// links to the same bytes. The database and the click log change everywhere, and are small beside
// them; they are always copied.
//
// In S3 everything is sent each time. Objects cannot have two names, so that backups could
// share them only outside their prefixes. Then no rule of the bucket could delete an old backup
// without damaging a newer one. Where images and files of events are large, they are better
// kept in S3 themselves, which a backup does not copy.
package backup
