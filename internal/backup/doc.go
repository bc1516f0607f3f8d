// Package backup copies an installation into a folder, beside its processes, and makes an
// installation of such a folder again.
//
// # The folder
//
// manifest.json names every other file with its size and digest. It is written last: a
// folder without it is no backup. Besides, there are database/ (the SQLite file, or the
// tables of PostgreSQL), and what the data folder has under the same names: assets/,
// events/, clicks/ and session-key.json.
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
package backup
