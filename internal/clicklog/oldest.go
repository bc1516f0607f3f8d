package clicklog

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
)

// Oldest returns the instant of the oldest event in the logs below a folder that is not in the event
// store yet, 0 for none. loaded tells how far each log is loaded: to an end in a file, with all files of
// smaller numbers. It takes no lock, so that it can look beside the processes that write.
func Oldest(dir string, loaded func(log string) (file, end int64)) (oldest clock.Instant, err error) {
	defer fault.Wrap(&err, "clicklog.Oldest(%s)", dir)
	folders, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, entry := range folders {
		segments, err := (&folder{path: filepath.Join(dir, entry.Name())}).leftovers()
		if err != nil && !entry.IsDir() || errors.Is(err, os.ErrNotExist) {
			continue // it was given up meanwhile
		}
		if err != nil {
			return 0, err
		}
		file, end := loaded(entry.Name())
		for _, s := range segments {
			from := int64(0)
			if s.number == file {
				from = end
			}
			if s.number < file || s.end <= from {
				continue
			}
			at, err := firstStored(s.path, from)
			if err != nil {
				return 0, err
			}
			if at != 0 && (oldest == 0 || at < oldest) {
				oldest = at
			}
		}
	}
	return oldest, nil
}

// firstStored returns the instant of the first event behind a place in a file that the event store is
// to get, 0 for none in the next chunk.
func firstStored(path string, from int64) (clock.Instant, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	chunk, err := io.ReadAll(io.NewSectionReader(f, from, chunkSize))
	if err != nil {
		return 0, err
	}
	for len(chunk) > 0 {
		var e Event
		size, err := decodeRecord(chunk, &e)
		if err != nil {
			skip, found := seekRecord(chunk)
			if !found {
				return 0, nil
			}
			size = skip
		} else if !e.Unstored {
			return e.At, nil
		}
		chunk = chunk[size:]
	}
	return 0, nil
}
