// Package organize owns what owners sort their links by: tags, folders and
// campaigns (api-v1.md, Tags, folders, campaigns; completions.md §6).
//
// The three share a name that is unique in its app, a description, a mark that
// they are archived (common.go), and their SQL (table.go); what a kind has
// beyond that is in its own file. It does not hold the links: package link,
// above, asks here whether a reference is one of its app.
package organize
