// Package template owns page templates: their drafts and versions, what the
// official ones are, and which of them apps, domains and links may choose
// (completions.md §5). It does not render pages: package page does.
package template
