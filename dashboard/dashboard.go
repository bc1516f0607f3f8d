// Package dashboard is what browsers load of the dashboard: pages, scripts, styles and
// pictures, as they are in its folder app. Package server serves them.
package dashboard

import (
	"embed"
	"io/fs"
)

//go:embed all:app
var app embed.FS

// Files are the files of the dashboard. In pages (index.html and frame.html), {{base}} stands
// for the folder from which they load everything else, without a slash at its end.
var Files = sub(app, "app")

func sub(all fs.FS, folder string) fs.FS {
	files, err := fs.Sub(all, folder)
	if err != nil {
		panic(err) // the folder is part of this program
	}
	return files
}
