// Package client calls the administrative API of a Waymark installation.
//
// A Client makes one call at a time with Do, or reads a whole list with Pages. What is told
// in the contract (api/openapi.yaml) and is the same for all operations is done here:
//
//   - Every mutation gets an Idempotency-Key. A call that got no answer, or was told to wait, is
//     repeated with the same key, so that it has one effect.
//   - Retry-After is kept, for as long as Client.Patience allows.
//   - A refusal becomes an *Error with its code, its details and the id of its request.
//   - Lists are followed from page to page by their cursor.
//
// A Receiver verifies the requests of webhooks.
//
// Bodies and answers are JSON as it is in the contract: any value that encoding/json takes.
package client
