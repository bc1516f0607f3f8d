package blob

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// flawed is a store in memory that works, but for what a test has put in place.
type flawed struct {
	Store
	content map[string]string
	// missing is what opens a name that has no object, read what an object gives in place of its content.
	missing error
	read    string
	// put, open, closing and remove fail.
	put, open, closing, remove error
	// keeps what should be removed.
	keeps bool
}

func (f *flawed) Put(_ context.Context, name, _ string, r io.Reader, _ int64) error {
	text, err := io.ReadAll(r)
	f.content[name] = string(text)
	return errors.Join(err, f.put)
}

func (f *flawed) Open(_ context.Context, name string) (Object, error) {
	text, found := f.content[name]
	switch {
	case !found:
		return nil, f.missing
	case f.open != nil:
		return nil, f.open
	case f.read != "":
		text = f.read
	}
	return object{strings.NewReader(text), f.closing}, nil
}

func (f *flawed) Delete(_ context.Context, name string) error {
	if !f.keeps {
		delete(f.content, name)
	}
	return f.remove
}

type object struct {
	*strings.Reader
	closing error
}

func (o object) Close() error { return o.closing }

// The check finds each way in which a store does not do its work, and leaves nothing there.
func TestCheck(t *testing.T) {
	flaw := errors.New("it does not work")
	for name, c := range map[string]struct {
		store flawed
		want  error
	}{
		"put":                          {flawed{put: flaw}, flaw},
		"open":                         {flawed{open: flaw}, flaw},
		"open and remove":              {flawed{open: errors.New("another"), remove: flaw}, flaw},
		"other content":                {flawed{read: "other"}, ErrAway},
		"close":                        {flawed{closing: flaw}, flaw},
		"remove":                       {flawed{remove: flaw}, flaw},
		"what was removed stays":       {flawed{keeps: true}, ErrAway},
		"missing objects are not told": {flawed{missing: flaw}, flaw},
		"it works":                     {flawed{}, nil},
		"it works, and says more":      {flawed{missing: errors.Join(errors.New("no key"), ErrNotFound)}, nil},
	} {
		s := c.store
		s.content = map[string]string{}
		if s.missing == nil {
			s.missing = ErrNotFound
		}
		if err := try(t.Context(), &s, &Images); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if len(s.content) > 0 && !s.keeps && s.put == nil {
			t.Errorf("%s: %q is left", name, s.content)
		}
	}
}
