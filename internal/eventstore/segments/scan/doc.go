// Package scan answers the questions of eventstore.Engine from the row groups of
// segments: Count and List. It decides nothing about where segments lie or which of
// them count; whoever asks hands over row groups that have each event once.
//
// # Codes instead of values
//
// The columns of a row group are indexes into dictionaries: codes. A filter is decided
// once per value of a dictionary, and rows are then chosen and counted by their codes,
// in plain loops over one column after the other. No text and no hash of a row is
// looked at.
//
// # Visitors
//
// The hash of a visitor lives in one UTC day. So in a row group whose days are in no
// other row group, the code of a visitor is a number of the visitor, and what such row
// groups count adds up. Days that lie in several row groups, such as today or one with
// late events, make an era: the visitors of its row groups are numbered by their hashes
// first. Eras are cut at midnights, so that they stay small (byDays).
//
// # Memory
//
// A row group, or an era of few rows, is a unit of turns.Pool, with the memory of
// one row group and of the visitors of the era, which the next unit uses again. The
// answer takes memory by groups, and by distinct links and installs where these are
// asked for.
package scan
