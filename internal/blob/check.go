package blob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// try implements Store.Check. Only doing all of it tells that all of it is
// permitted; a service that hides missing objects behind a refusal is found,
// too.
func try(ctx context.Context, s Store, kind *Kind) error {
	random := make([]byte, 16)
	rand.Read(random)
	name, content := hex.EncodeToString(random)+kind.Extension, "Waymark tries whether it can store this."
	if err := s.Put(ctx, name, kind.ContentType, strings.NewReader(content), int64(len(content))); err != nil {
		return err
	}
	object, err := s.Open(ctx, name)
	if err != nil {
		return errors.Join(err, s.Delete(ctx, name))
	}
	read, err := io.ReadAll(object)
	if err == nil && string(read) != content {
		err = errors.New("it is not what was stored")
	}
	if err := errors.Join(err, object.Close(), s.Delete(ctx, name)); err != nil {
		return away("read", name, err)
	}
	if _, err := s.Open(ctx, name); err == nil {
		return away("read", name, errors.New("it was removed, but is still there"))
	} else if !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}
