// Package signin is how people sign in to the dashboard, and see and end their sessions: by an
// address that works once, by a passkey, or at an OpenID Connect issuer. Its calls stand beside
// the operations of the contract, at /auth, and answer in the same envelope.
//
// It owns passkeys and the ceremonies in which browsers make and use them (Web Authentication
// Level 3). Sessions and the addresses that sign in are package actor's, cookies package
// browser's.
package signin
