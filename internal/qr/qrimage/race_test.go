//go:build race

package qrimage

// share is which part of the codes is tested: the race detector makes the
// library ten times slower.
const share = 8
