//go:build !race

package qrimage

// share is which part of the codes is tested: all of them.
const share = 1
