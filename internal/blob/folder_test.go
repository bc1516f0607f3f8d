package blob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What is stored is on the disk before it has its name, then its name is, and so are
// the names of the folder and of what was removed. What cannot be synced is an error.
func TestFolderIsSynced(t *testing.T) {
	const content = "content"
	steps := []string{"parent, 0 names", "7 bytes, 0 names", "folder, 1 names", "folder, 0 names"}
	for failing := range len(steps) + 1 {
		parent := t.TempDir()
		path := filepath.Join(parent, "assets")
		doing := []string{"make " + path, "store " + name, "store " + name, "remove " + name}
		var synced []string
		fsync := func(file *os.File) error {
			info, err := file.Stat()
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%d bytes", info.Size())
			switch file.Name() {
			case parent:
				what = "parent"
			case path:
				what = "folder"
			}
			names, err := filepath.Glob(filepath.Join(path, name))
			synced = append(synced, fmt.Sprintf("%s, %d names", what, len(names)))
			if len(synced) == failing {
				return syscall.EIO
			}
			return errors.Join(err, file.Sync())
		}
		store, err := openFolder(path, Images, fsync)
		if err == nil {
			err = store.Put(t.Context(), name, "image/png", strings.NewReader(content), int64(len(content)))
		}
		if err == nil {
			err = store.Delete(t.Context(), name)
		}
		switch {
		case failing == 0 && (err != nil || !slices.Equal(synced, steps)):
			t.Errorf("synced %q, %v; want %q", synced, err, steps)
		case failing > 0 && (!errors.Is(err, ErrAway) || !errors.Is(err, syscall.EIO)):
			t.Errorf("sync %d of %q fails: %v", failing, steps, err)
		case failing > 0 && !strings.HasPrefix(err.Error(), ErrAway.Error()+": "+doing[failing-1]+": "):
			t.Errorf("sync %d of %q fails: %v, want %q", failing, steps, err, doing[failing-1])
		}
	}
}

// A folder that cannot be looked through takes nothing new.
func TestFolderIsTidiedFirst(t *testing.T) {
	f := newFolder(t)
	put(t, f, another, "x")
	f.tidied.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Put(ctx, name, "image/png", strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := names(t, f); !slices.Equal(got, []string{another}) {
		t.Errorf("%v", got)
	}
}

// A file that is finished while the folder is looked through is no failure.
func TestFinishedMeanwhile(t *testing.T) {
	f := newFolder(t)
	file := filepath.Join(f.path, ".storing-1")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(f.path)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if err := os.Rename(file, filepath.Join(f.path, name)); err != nil {
		t.Fatal(err)
	}
	if err := f.tidy(entries[0]); err != nil {
		t.Error(err)
	}
}
