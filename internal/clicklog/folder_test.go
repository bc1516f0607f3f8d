package clicklog

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A folder that its last holder removes while it is being locked is nobody's, and no error.
func TestLockOfAFolderThatGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	held := 0
	for range 500 {
		last, err := os.MkdirTemp(filepath.Dir(path), "")
		if err == nil {
			err = os.Rename(last, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		var removing sync.WaitGroup
		removing.Go(func() { os.Remove(path) })
		f, err := lockFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		removing.Wait()
		if f != nil {
			held++
			f.lock.Close()
		}
	}
	t.Logf("%d of 500 were locked before they were removed", held)
}
