// Package visitor tells who sends a request to the public listener
// (completions.md §10): the program (platform, browser, bot or preview), the
// address behind proxies, the country, the page before. It owns the daily salts
// of the visitor hash (table visitor_salt), by which visits of one day are
// counted as one visitor's without storing whose.
//
// It does not hold what a visitor is answered: that is package redirect's.
package visitor
