package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tar writes a gzipped tar archive of files, in a folder with its name.
func (r *release) tar(name string, files []string) error {
	return create(name, func(w io.Writer) error {
		zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		archive := tar.NewWriter(zipped)
		err = entries(name, ".tar.gz", files, func(entry string, mode int64, content []byte) error {
			err := archive.WriteHeader(&tar.Header{Name: entry, Mode: mode, Size: int64(len(content)), ModTime: r.at,
				Format: tar.FormatPAX})
			if err != nil {
				return err
			}
			_, err = archive.Write(content)
			return err
		})
		return errors.Join(err, archive.Close(), zipped.Close())
	})
}

// zip writes a zip archive of files, in a folder with its name.
func (r *release) zip(name string, files []string) error {
	return create(name, func(w io.Writer) error {
		archive := zip.NewWriter(w)
		err := entries(name, ".zip", files, func(entry string, mode int64, content []byte) error {
			header := &zip.FileHeader{Name: entry, Method: zip.Deflate, Modified: r.at}
			header.SetMode(os.FileMode(mode))
			to, err := archive.CreateHeader(header)
			if err != nil {
				return err
			}
			_, err = to.Write(content)
			return err
		})
		return errors.Join(err, archive.Close())
	})
}

// create writes a file.
func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// entries gives the files of an archive to add: the first one is the program.
func entries(archive, ending string, files []string, add func(entry string, mode int64, content []byte) error) error {
	folder := strings.TrimSuffix(filepath.Base(archive), ending)
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if i == 0 {
			mode = 0o755
		}
		if err := add(path.Join(folder, filepath.Base(file)), mode, content); err != nil {
			return err
		}
	}
	return nil
}
