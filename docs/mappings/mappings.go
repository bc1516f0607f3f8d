// Package mappings holds how the columns of other products become fields of links here, as
// docs/importing.md shows them.
package mappings

import "embed"

// Files has a JSON file for each product: a column names its field, and a field its constant.
//
//go:embed *.json
var Files embed.FS
