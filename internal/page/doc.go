// Package page renders the pages that visitors see: those of links that open an
// app, which owners design as templates, and those that say that there is nothing
// at an address (api-v1.md, TemplateConfig; completions.md §10). The redirector and
// the previews of the API call the same functions, so the same input gives the
// same bytes.
//
// It knows nothing of links, databases or requests: who calls it decides what a
// page offers, and in which language.
package page
