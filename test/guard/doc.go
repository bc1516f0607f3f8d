// Package guard proves that webhooks reach public addresses alone. Its tests run
// in a network of their own where every address there is leads to them, and
// where a DNS server does its worst. The code under test has no part in it.
package guard
