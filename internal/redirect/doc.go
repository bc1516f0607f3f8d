// Package redirect is the public side: it answers the visitors of links
// (completions.md §10) as a bare http.Handler, with no router or framework in
// between, because this is the path whose cost is multiplied by every click.
//
// It owns the HTTP of a visit, the pages that open an app, the notices of 404, 410 and 503, and the pages for
// crawlers that make previews. Package visitor finds out who asks, package
// route decides what a link does with a visit, package clicklog keeps the
// click, and package clickcount knows whether a limit is reached.
//
// Nothing is logged for an ordinary visit: the click log and the counters
// already hold it, and a line would cost more than the redirect. At debug
// level there is one line, without address or query.
package redirect
