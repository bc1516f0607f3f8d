// Package visitor finds out who sends a request to the public listener
// (completions.md §10): the program (platform, browser, bot or preview), the
// address behind proxies, the country, and the page that the visitor comes
// from. It owns the daily salts of the visitor hash (table visitor_salt), which
// counts the visits of one visitor in a day together without storing who it
// was.
//
// It does not hold what a visitor is answered: package redirect does.
package visitor
