package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/docs/mappings"
	"github.com/waymarkhq/waymark/internal/text"
)

// mapping says what each column of a file becomes: the name of a field, or for the name of a field
// an object with a constant.
type mapping map[string]any

// field returns the field of a column, "" for none.
func (m mapping) field(column string) string {
	field, _ := m[column].(string)
	return field
}

// needs returns the columns that tell a link: those of its address and its destination.
func (m mapping) needs() (columns []string) {
	for _, column := range slices.Sorted(maps.Keys(m)) {
		switch m.field(column) {
		case "url", "url.path", "slug", "desktopUrl":
			columns = append(columns, column)
		}
	}
	return columns
}

// fits reports whether a file with these columns is the product's.
func (m mapping) fits(columns []string) bool {
	return !slices.ContainsFunc(m.needs(), func(needed string) bool { return !slices.Contains(columns, needed) })
}

// missing returns the columns that the mapping names and a file with these columns has not.
func (m mapping) missing(columns []string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if _, column := m[name].(string); column && !slices.Contains(columns, name) {
			names = append(names, name)
		}
	}
	return names
}

// of returns the mapping of a product for a file that lacks some of the columns.
func (m mapping) of(columns []string) mapping {
	kept := maps.Clone(m)
	for _, name := range m.missing(columns) {
		delete(kept, name)
	}
	return kept
}

// onDomain returns the mapping that puts all links on one domain.
func (m mapping) onDomain(domain string) mapping {
	moved := maps.Clone(m)
	for name := range moved {
		switch moved.field(name) {
		case "url":
			moved[name] = "url.path"
		case "domain":
			delete(moved, name)
		}
	}
	moved["domain"] = map[string]any{"value": domain}
	return moved
}

// products returns the mappings of all products by their names.
func products() map[string]mapping {
	all := map[string]mapping{}
	names, err := fs.Glob(mappings.Files, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, file := range names {
		content, err := mappings.Files.ReadFile(file)
		var m mapping
		if err == nil {
			err = json.Unmarshal(content, &m)
		}
		if err != nil {
			panic(fmt.Sprintf("cli: the mapping %s, which is part of this program: %v", file, err))
		}
		all[strings.TrimSuffix(path.Base(file), ".json")] = m
	}
	return all
}

// chooseMapping returns the mapping for a file with these columns, and the name of its product: of
// the one that was named, or of the one whose columns they are.
func chooseMapping(from string, columns []string) (mapping, string, error) {
	if len(columns) == 1 && strings.ContainsAny(columns[0], ";\t") {
		return nil, "", usage("the columns of this file are separated by semicolons or tabs: save it as CSV with commas")
	}
	all := products()
	names := slices.Sorted(maps.Keys(all))
	if from != "" {
		name := strings.ReplaceAll(strings.ToLower(from), ".", "")
		m, known := all[name]
		if !known {
			return nil, "", usage(fmt.Sprintf("--from %q is none of %s%s", from, strings.Join(names, ", "), meant(text.Nearest(name, names))))
		}
		if !m.fits(columns) {
			return nil, "", usage(fmt.Sprintf("a file of %s has the columns %s; this one has %s", name,
				strings.Join(m.needs(), ", "), strings.Join(columns, ", ")))
		}
		return m.of(columns), name, nil
	}
	for _, name := range names {
		if all[name].fits(columns) {
			return all[name].of(columns), name, nil
		}
	}
	return nil, "", usage(fmt.Sprintf("the columns %s are those of no product that is known: give --from or --mapping",
		strings.Join(columns, ", ")))
}
