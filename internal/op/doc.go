// Package op is the one pipeline behind every administrative operation.
//
// A capability declares an operation as a row (Op) with a handler; everything
// that operations have in common happens here, in the order of refusals that
// completions.md §1 fixes: authentication, windows, permission, syntax, body,
// receipt, revision present, windows again, scope; then the handler in one
// transaction with audit and receipt; then the envelope. The same rows make
// the OpenAPI document and the capabilities catalog.
//
// No web framework stands below it: the contract's order of refusals, its
// 400/422 boundary and its receipts lie between the steps that one joins.
// Package schema makes the schemas and checks bodies against them.
//
// It does not hold any operation. Handlers make no network call and start no
// goroutine: a transaction may run them again.
package op
