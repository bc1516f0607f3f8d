package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/platform"
)

// journal keeps how far an import is, in a file of JSON lines beside the file of links: first what
// is imported, then each part whenever something of it is known. It is removed when all parts have
// ended.
//
// The keys of all calls follow from the run, so a call whose answer was lost with the process is
// made again with the same key, and happens once.
type journal struct {
	head  journalHead
	mu    sync.Mutex
	parts map[int]*partState
	file  *os.File
}

// journalHead says what is imported. Another file, or the same one with other options, is another
// import.
type journalHead struct {
	Run    uuid.UUID `json:"run"`
	Digest string    `json:"digest"`
}

// partState is how far a part is.
type partState struct {
	Part int `json:"part"`
	// Attempt counts the imports that were made of the part: one that is not committed is
	// removed after a day.
	Attempt  int    `json:"attempt"`
	ID       string `json:"id,omitempty"` // of its import
	State    string `json:"state"`        // of its import
	Revision string `json:"revision,omitempty"`
	Invalid  int    `json:"invalid"`
	// Committed is true from before the commit is sent.
	Committed bool `json:"committed,omitempty"`
	// Items are there when the part has ended, and after it was tried those that are invalid.
	Items []reportItem `json:"items,omitempty"`
}

// over reports whether nothing more comes of the part.
func (p *partState) over() bool {
	switch p.State {
	case "succeeded", "partially_succeeded", "failed", "cancelled", "nothing_valid":
		return true
	}
	return false
}

// openJournal opens the journal of an import, or begins it. Another import may only have its place when that
// has made no link.
func openJournal(name, digest string) (j *journal, resumed bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("keep how far the import is: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	// Where no lock can be had, as on Windows, two imports of one file at once are the person's affair.
	switch err := platform.Lock(file); {
	case errors.Is(err, platform.ErrLocked):
		return nil, false, fmt.Errorf("another command imports this file, and keeps how far it is in %s: wait until it has ended", name)
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return nil, false, fmt.Errorf("lock %s: %w", name, err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, false, fmt.Errorf("read how far the import is: %w", err)
	}
	j = &journal{head: journalHead{Run: uuid.New(), Digest: digest}, parts: map[int]*partState{}, file: file}
	if bytes.Contains(content, []byte("\n")) { // else it ended before it began
		before := &journal{parts: map[int]*partState{}, file: file}
		if err := before.read(content); err != nil {
			return nil, false, fmt.Errorf("read how far the import is, from %s: %w", name, err)
		}
		switch {
		case before.head.Digest == digest:
			j, resumed = before, true
		case before.committed():
			return nil, false, fmt.Errorf("%s is of another import, which has not ended: of another file, server, app or mapping; "+
				"go on with that one, or remove %s to begin anew", name, name)
		}
	}
	if !resumed {
		if err = file.Truncate(0); err == nil {
			err = j.write(j.head)
		}
	} else if !bytes.HasSuffix(content, []byte("\n")) {
		_, err = file.WriteString("\n") // after a line that was cut off
	}
	return j, resumed, err
}

// committed reports whether a commit of the import was sent: links may have been made.
func (j *journal) committed() bool {
	for _, p := range j.parts {
		if p.Committed {
			return true
		}
	}
	return false
}

// read takes what a journal says. A last line that was cut off is as if it were not there.
func (j *journal) read(content []byte) error {
	for i, line := range bytes.Split(content, []byte("\n")) {
		if i == 0 {
			if err := json.Unmarshal(line, &j.head); err != nil {
				return err
			}
			continue
		}
		var p partState
		if json.Unmarshal(line, &p) == nil {
			j.parts[p.Part] = &p
		}
	}
	return nil
}

func (j *journal) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err = j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("keep how far the import is: %w", err)
	}
	return nil
}

// part returns how far a part is.
func (j *journal) part(n int) partState {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.parts[n]; p != nil {
		return *p
	}
	return partState{Part: n}
}

// keep writes how far a part is.
func (j *journal) keep(p partState) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.parts[p.Part] = &p
	return j.write(p)
}

// key returns the Idempotency-Key of a step of a part.
func (j *journal) key(p partState, step string) string {
	name := fmt.Sprintf("%d %d %s", p.Part, p.Attempt, step)
	return uuid.NewHash(newDigest(), j.head.Run, []byte(name), 4).String()
}

// end removes the journal.
func (j *journal) end() error { return errors.Join(j.file.Close(), os.Remove(j.file.Name())) }

// leave keeps the journal for a later run.
func (j *journal) leave() error { return j.file.Close() }
