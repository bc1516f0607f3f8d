// Package blob keeps the bytes of uploaded images, in a folder or in an
// S3-compatible store, and serves them to the public (completions.md §3,
// Assets).
//
// It owns nothing but bytes under names that are given once: 32 random
// hexadecimal digits and .png or .jpg. What has such a name never changes, so
// an answer may be kept for ever. Which images there are, and whose, is package
// asset's to know.
package blob
