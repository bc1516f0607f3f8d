// Package segments is the engine of analytics that keeps events in Parquet files.
//
// A segment is a Parquet file that never changes: some events, in the order of app,
// instant and id. Package segment knows its format, package scan answers questions from
// many of them. This package knows which segments there are, and makes few large ones of
// many small ones. It owns the tables event_segment and event_garbage.
//
// # What lies where
//
// The manifest, event_segment, has a row for each segment. All events of the rows, each
// once, are all events there are. A young segment lies in its row. A sealed one is a file
// of the segment store, <id>.parquet: in a folder, or in S3 when several processes share
// it. What links looked like is in event_link, which segments refer to by number.
//
// # The life of a segment
//
// Append makes each batch of the click log a young segment (append.go). Run merges young
// segments among themselves, seals them when they are many events or their day has
// ended, and merges files of a month among themselves, so that an event is written some
// four times and a month ends as a few files (plan.go decides what is next, rewrite.go
// does it). Sweep and Erase rewrite segments without the events that are to go.
//
// All of this is one change, replace (manifest.go): in one transaction some rows leave the
// manifest, and others with the same events come. What takes time, reading and writing
// segments, happens before the transaction.
//
// # Why each event is there once
//
// Events come into the manifest in Append alone, in the transaction that moves the
// position of their log in event_loaded. A log that hands out an event again is known to
// have been loaded that far (package loaded).
//
// They go from segment to segment in replace alone. It deletes the rows that were read,
// and a row can be deleted once: of two processes that replace the same segment, the
// second one finds fewer rows than it has read, undoes its transaction and looks again.
// There is no lock and no leader.
//
// A question reads the rows of its period in one statement, which sees the manifest before
// a replace or after it. The files of that moment stay for five minutes after they were
// replaced, longer than a question may take. A young segment may go with its row before
// it is read; then the question begins again (view.go), and so does whoever comes too late
// for a file.
//
// # What a crash leaves
//
// Before a file is written, its id is entered in event_garbage, due in an hour. The
// transaction that brings the file into the manifest takes it out there. So, of a process
// that dies
//
//   - in Append, or in replace: the database undoes the transaction, or has all of it; the
//     log hands out the batch again, and its position tells whether it is there;
//   - between the entry and the transaction: a file, or half of one, that is in no manifest.
//     Whoever finds the entry due deletes it. An entry is claimed first, by a change of
//     its instant; then a writer that was slow, and not dead, cannot bring the file into
//     the manifest any more;
//   - after the transaction: the files that were replaced, entered by the same
//     transaction and due in five minutes;
//   - while it deletes a file: the claimed entry, which is due again some minutes later.
//
// A merge that ends in vain, as somebody has replaced its segments meanwhile, makes its
// entries due at once: its files may have what Erase has deleted.
//
// No store is ever listed to find out what belongs there.
//
// # Damage
//
// A process compares each file with the checksum in the manifest when it first opens it.
// What is missing or damaged fails the questions that need it, by name, and is left out of
// merging for an hour; the rest goes on.
package segments
