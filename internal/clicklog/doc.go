// Package clicklog is the durable log between the redirector and the event
// store: a visit is answered once its event is written here.
//
// What Append has acknowledged survives the death of the process at once
// (it is in the kernel) and the death of the machine within about 50 ms (it
// is synced). The loader of the event store takes events with Next and gives
// them up with Done after its commit; a crash in between hands the same events
// out again, so the event store must ignore events it already has, by app,
// instant and id.
//
// # On disk
//
// Each open Log has a folder of its own below the shared one, with an
// exclusive flock on it for as long as its process lives. A folder whose lock
// is free belongs to a dead process: whoever notices first takes the lock,
// drains the folder and removes it. Which events of a folder were already
// loaded is known only in memory; a file goes once all its events are loaded.
// The next file is made and opened ahead, so that clicks are still written when
// the process may open no more. A Log whose files somebody removes goes on in a
// new folder.
//
// A file, <number>.v1, is a sequence of records (record.go). Of a damaged one
// the reader passes over the bytes up to the next whole record; Lost counts
// them, and events keep their positions. The format has its version in the name,
// so that a process never takes another version's records for damaged ones.
package clicklog
