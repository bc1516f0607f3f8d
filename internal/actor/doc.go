// Package actor tells who calls: it verifies bearer credentials (API keys and
// human sessions) and says what their holder may do and reach.
//
// It owns the form of key texts, the verification of sessions of the local
// issuer and of an OpenID Connect issuer (one code for both), and the grant
// from which the executor rebuilds a caller. It does not hold the
// administration of keys (package apikey) or of profiles (package account).
package actor
