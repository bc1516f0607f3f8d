// Package op is the one pipeline behind every administrative operation.
//
// A capability declares an operation as a row (Op) with a handler; everything
// that operations have in common happens here, in the order of refusals that
// completions.md §1 fixes: authentication, windows, permission, syntax, body,
// receipt, revision present, windows again, scope; then, in one transaction, the
// caller's permission once more, the handler, audit and receipt; then the
// envelope. The same rows make the OpenAPI document and the capabilities catalog.
//
// It uses no web framework: a framework does in a single step what the contract
// does in several, with refusals and receipts between them. Package schema
// makes the schemas and checks bodies against them.
//
// It does not hold any operation. Handlers make no network call and start no
// goroutine: a transaction may run them again.
package op
