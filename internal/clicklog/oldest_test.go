package clicklog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// The oldest event is that of the first one that is not loaded and is to be stored, of all logs, also
// behind damage.
func TestOldest(t *testing.T) {
	dir := t.TempDir()
	none := func(string) (int64, int64) { return -1, 0 }
	if at, err := Oldest(filepath.Join(dir, "none"), none); at != 0 || err != nil {
		t.Errorf("without a folder: %d, %v", at, err)
	}
	l, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if at, err := Oldest(dir, none); at != 0 || err != nil {
		t.Errorf("without an event: %d, %v", at, err)
	}
	for _, e := range []Event{{At: 500, Type: "click", Unstored: true, Limited: true}, {At: 300, Type: "click"}, {At: 400, Type: "click"}} {
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	b, err := l.Next(10)
	if err != nil || len(b.Runs) != 1 {
		t.Fatal(b, err)
	}
	run := b.Runs[0]
	for _, test := range []struct{ file, end, want int64 }{
		{-1, 0, 300}, {run.File, 0, 300}, {run.File, run.Ends[0], 300}, {run.File, 1, 300}, {run.File, run.Ends[1], 400},
		{run.File, run.Ends[2], 0}, {run.File + 1, 0, 0},
	} {
		at, err := Oldest(dir, func(log string) (int64, int64) {
			if log != run.Log {
				t.Errorf("the log %s is none", log)
			}
			return test.file, test.end
		})
		if int64(at) != test.want || err != nil {
			t.Errorf("loaded to %d of file %d: %d, %v; want %d", test.end, test.file, at, err, test.want)
		}
	}
}

// The oldest event is found in whichever log it is, also beside logs that have none to be stored.
func TestOldestOfSeveral(t *testing.T) {
	dir := t.TempDir()
	for log, events := range map[string][]Event{
		"a": {{At: 400, Type: Click}}, "b": {{At: 300, Type: Click}}, "c": {{At: 300, Type: Click}},
		"d": {{At: 100, Type: Click, Unstored: true, Limited: true}}, "e": {{At: 500, Type: Click}},
	} {
		var contents []byte
		for _, e := range events {
			contents, _ = appendRecord(contents, &e)
		}
		if err := errors.Join(os.Mkdir(filepath.Join(dir, log), 0o700),
			os.WriteFile(filepath.Join(dir, log, "1"+extension), contents, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := Oldest(dir, func(string) (int64, int64) { return -1, 0 }); at != 300 || err != nil {
		t.Errorf("%d, %v", at, err)
	}
}

// What is no log is passed over; what cannot be read is an error, and what is damaged has no oldest event.
func TestOldestOfWhatCannotBeRead(t *testing.T) {
	all := func(string) (int64, int64) { return -1, 0 }
	for name, c := range map[string]struct {
		make  func(dir string) error
		fails bool
	}{
		"a file beside the logs": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600) }, false},
		"a folder in place of a file": {func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "log", "1"+extension), 0o700)
		}, true},
		"a file that cannot be opened": {func(dir string) error {
			file := filepath.Join(dir, "log", "1"+extension)
			return errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.Symlink(file, file))
		}, true},
		"a file that is gone": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "log"), 0o700),
				os.Symlink("none", filepath.Join(dir, "log", "1"+extension)))
		}, false},
		"a file of another kind": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "log"), 0o700),
				os.WriteFile(filepath.Join(dir, "log", "1.txt"), []byte("x"), 0o600))
		}, false},
		"a damaged file": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "log"), 0o700),
				os.WriteFile(filepath.Join(dir, "log", "1"+extension), []byte("damaged"), 0o600))
		}, false},
		"a file in place of the folder": {func(dir string) error {
			return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600))
		}, true},
		"events that are not to be stored": {func(dir string) error {
			l, err := Open(dir, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			defer l.Close()
			return l.Append(&Event{At: 500, Type: Click, Unstored: true, Limited: true})
		}, false},
	} {
		dir := t.TempDir()
		if err := c.make(dir); err != nil {
			t.Fatal(err)
		}
		if at, err := Oldest(dir, all); at != 0 || (err != nil) != c.fails {
			t.Errorf("%s: %d, %v", name, at, err)
		}
	}
}
