package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/waymarkhq/waymark/internal/store"
)

// maxNamed is how many damaged files Verify names.
const maxNamed = 10

// Verify reads the backup at an address: it compares every file with the manifest, and then
// opens the copy of the database. It changes nothing there, and names what is damaged.
func Verify(ctx context.Context, address string) (m Manifest, err error) {
	from, err := open(ctx, address)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	if m, err = read(from); err != nil {
		return m, err
	}
	var damaged []string
	for _, f := range m.Files {
		switch err := from.verify(f); {
		case errors.Is(err, errDamaged):
			damaged = append(damaged, strings.TrimPrefix(err.Error(), errDamaged.Error()+": "))
		case err != nil:
			return m, err
		}
	}
	if n := len(damaged) - maxNamed; n > 0 {
		damaged = append(damaged[:maxNamed], fmt.Sprintf("and so are %d more files", n))
	}
	if len(damaged) > 0 {
		return m, fmt.Errorf("%w: %s", errDamaged, strings.Join(damaged, "; "))
	}
	if m.Engine == "sqlite" {
		if err := from.fetch(path.Join(database, store.CopyName)); err != nil {
			return m, err
		}
	}
	err = store.VerifyCopy(ctx, below{from, database}, m.Tables, m.Schema)
	if damage := store.Damage(""); errors.As(err, &damage) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return m, err
}
