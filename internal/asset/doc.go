// Package asset owns uploaded images: their records, their bytes in the asset
// store, and which of them is an app's logo (api-v1.md, Asset; completions.md
// §3). It does not hold what else shows an image: links and QR codes ask here
// whether an image may be shown (Find).
//
// # Records and bytes
//
// Bytes and record are in two places that cannot commit together. So a record
// comes first, in state storing, which nobody sees; then the bytes; then the
// record becomes active in the transaction that holds audit and receipt. A
// removal goes the other way: deleting, which lets nothing refer to the image
// any more, then the bytes, then the record. Whatever a crash or a store that
// was away leaves in a state other than active, the client's next attempt with
// the same key finishes, or Sweep removes. Bytes are never changed: their name
// is random and given once.
package asset
