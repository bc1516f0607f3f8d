//go:build soak

package process_test

// soak repeats what depends on chance many times.
const soak = true
