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
package route
