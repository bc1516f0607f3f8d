package main

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/platform"
)

const (
	// littleSpace is what a busy installation takes in some days: time enough to make room.
	littleSpace = 2 << 30
	// noSpace is what the click log and the write-ahead log of SQLite may take within minutes.
	noSpace = 256 << 20
	// littleFiles and noFiles are the same for files: an installation makes one for each image and
	// for each segment of events, and some for clicks.
	littleFiles, noFiles = 10_000, 500
)

// disk is what is left on the disk of a folder.
type disk struct {
	platform.Space
	folder string
	err    error
}

func diskOf(folder string) disk {
	space, err := platform.FreeSpace(folder)
	return disk{space, folder, err}
}

func (d disk) judge() finding {
	if d.err != nil {
		return fail(d.err.Error(), "look at the rights of the folder")
	}
	const advice = "make room: remove old backups beside it, or give it a larger disk"
	found := fmt.Sprintf("%d MiB free for %s", d.Bytes>>20, d.folder)
	files := fmt.Sprintf("only %d more files can be made in %s", d.Files, d.folder)
	switch {
	case d.Bytes < noSpace:
		return fail(found+": writes will be refused, and clicks be lost", advice)
	case d.Files < noFiles:
		return fail(files, advice)
	case d.Bytes < littleSpace:
		return warn(found+", which is little", advice)
	case d.Files < littleFiles:
		return warn(files, advice)
	}
	return ok(found)
}
