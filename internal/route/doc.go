// Package route holds the projection of links and hostnames that the redirector
// reads, and decides what a visitor gets.
//
// It owns the tables route and route_change, the form of their documents (Link,
// Host), the cache that every redirector process keeps of them, and Decide,
// which is pure and also serves previews. It does not hold links or domains
// themselves: their packages load them, and the executor publishes them here.
// It knows nothing of HTTP: package redirect does.
//
// # Consistency
//
// A publication locks one row (Lock) before it reads what to publish and keeps
// it until commit. So there is one publication at a time, none can overwrite
// a newer one with what it read earlier, and change numbers become visible in
// their order: a follower that has seen number n will never find a smaller one
// that it missed. The price is that publications do not run in parallel; they
// are a few point writes each.
//
// # A database that went back
//
// What a follower or a visitor's read has seen of the database reflects all
// changes up to some change. As long as the database has that row, it has all
// that was read from it. An older copy that takes its place does not have it,
// also when its numbers have come as far again, or it has another epoch after a
// restore. Then nothing that was read before is served any more.
package route
