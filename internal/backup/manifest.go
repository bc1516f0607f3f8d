package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// manifestName is the name of the file that makes a folder a backup.
	manifestName = "manifest.json"
	// format is the form of the folder. A program refuses a newer one.
	format = 1
	// maxManifest bounds what is read of a manifest: some 100 bytes a file.
	maxManifest = 1 << 30
)

// Manifest tells what a backup has.
type Manifest struct {
	Format int `json:"format"`
	// Version is the program's that made it.
	Version string    `json:"version"`
	TakenAt time.Time `json:"takenAt"`
	// Installation and Epoch are those of the copied database.
	Installation string `json:"installation"`
	Epoch        string `json:"epoch"`
	// Engine is the database's: sqlite or postgres.
	Engine string `json:"engine"`
	Schema int64  `json:"schema"`
	// Tables are those of PostgreSQL, in the order in which they are filled.
	Tables []store.Table `json:"tables,omitempty"`
	Files  []File        `json:"files"`
	// Linked is how many files were linked while the backup was made.
	Linked int `json:"-"`
	// images is 1 where the database names an image.
	images int64
}

// File is a file of a backup.
type File struct {
	// Path is below the folder, with slashes.
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for i := range m.Files {
		n += m.Files[i].Bytes
	}
	return n
}

// write makes a complete folder a backup.
func (m *Manifest) write(to *folder) error {
	const unfinished = manifestName + ".unfinished"
	file, err := to.root.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = json.MarshalWrite(file, m, jsontext.WithIndent("  "))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := to.root.Rename(unfinished, manifestName); err != nil {
		return err
	}
	if err := syncFolder(to.root, "."); err != nil {
		return err
	}
	return to.send(manifestName)
}

// read reads the manifest of a backup.
func read(from *folder) (m Manifest, err error) {
	file, err := from.open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("there is no %s: this is no backup, or the backup did not end", manifestName)
	}
	if err != nil {
		return m, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return m, fmt.Errorf("read %s: %w", manifestName, err)
	}
	if len(text) > maxManifest {
		return m, fmt.Errorf("%s is damaged: it has more than %d bytes", manifestName, maxManifest)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s is damaged: %w", manifestName, err)
	}
	if m.Format > format {
		return m, fmt.Errorf("the backup has format %d, this program knows only %d: use the newer waymark that made it",
			m.Format, format)
	}
	if m.Schema > store.NewestSchema {
		return m, fmt.Errorf("the backup has schema %d, this program has only %d: use the newer waymark that made it",
			m.Schema, store.NewestSchema)
	}
	return m, m.check()
}

// check refuses what no backup has.
func (m *Manifest) check() error {
	if m.Format < 1 || m.Schema < 1 || (m.Engine != "sqlite" && m.Engine != "postgres") {
		return fmt.Errorf("%s is damaged: format %d, schema %d, engine %q", manifestName, m.Format, m.Schema, m.Engine)
	}
	for _, f := range m.Files {
		// They are below the folders that a backup has, or the one file beside them.
		top, _, below := strings.Cut(f.Path, "/")
		known := below && slices.Contains([]string{database, assets, clicks, events}, top) || f.Path == sessionKey
		if !known || !filepath.IsLocal(f.Path) {
			return fmt.Errorf("%s is damaged: file %q", manifestName, f.Path)
		}
	}
	return nil
}
