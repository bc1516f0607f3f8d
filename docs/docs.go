// Package docs is the documentation as Markdown, with what its pages link to. Package
// internal/server/site makes a site of it.
package docs

import "embed"

// Files are the pages, their pictures, and the mappings of imports.
//
//go:embed *.md *.svg mappings/*.json
var Files embed.FS
