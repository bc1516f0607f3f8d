package clicklog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// provide has a spare segment at hand, so that the next one needs no file to be
// opened. Where somebody has removed or replaced the files that are written, it
// begins with a new folder: nobody would find the events that went on there.
func (l *Log) provide() error {
	if !stands(l.own.path, l.own.made, 0) || !l.active.stands() || !l.spare.stands() {
		if err := l.moveOn(); err != nil {
			return err
		}
	}
	if l.spare != nil {
		return nil
	}
	path := filepath.Join(l.own.path, strconv.FormatInt(l.serial+1, 10)+extension)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	made, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}
	l.serial++
	l.created = true
	l.spare = &segment{folder: l.own, path: path, number: l.serial, file: file, made: made}
	return nil
}

// moveOn leaves the own folder for a new one.
func (l *Log) moveOn() error {
	l.seal()
	dropErr := l.dropSpare()
	own, err := l.makeFolder()
	if err != nil {
		return err
	}
	old := l.own
	l.own = own
	l.logger.Error("files of the click log were removed or replaced while it was in use: it goes on in a new folder",
		"folder", old.path, "new_folder", own.path, "error", dropErr)
	if old.segments == 0 {
		return old.release(true)
	}
	return nil
}

// makeFolder makes a folder of this process's own, and all names that lead to it durable.
func (l *Log) makeFolder() (*folder, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := newFolder(l.dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(l.syncFolder(l.dir), l.syncFolder(filepath.Dir(l.dir))); err != nil {
		return nil, errors.Join(err, f.release(true))
	}
	return f, nil
}

// dropSpare gives up the spare segment, if there is one.
func (l *Log) dropSpare() error {
	if l.spare == nil {
		return nil
	}
	err := errors.Join(l.spare.file.Close(), remove(l.spare.path))
	l.spare = nil
	return err
}

// remove removes a file or an empty folder, which somebody may have done already.
func remove(path string) error {
	if err := os.Remove(path); !missing(err) {
		return err
	}
	return nil
}

// missing reports whether err means that a path leads nowhere.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// stands reports whether path still names what was made there, with the bytes
// that were written. Of what cannot be looked at just now it is assumed.
func stands(path string, made os.FileInfo, size int64) bool {
	now, err := os.Stat(path)
	if err != nil {
		return !missing(err)
	}
	return os.SameFile(now, made) && now.Size() >= size
}
