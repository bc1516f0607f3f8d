//go:build !soak

package process_test

// soak repeats what depends on chance many times; see make soak.
const soak = false
