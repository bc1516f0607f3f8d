// Package blob keeps bytes under names that are given once, in a folder or in an
// S3-compatible store: uploaded images, which it also serves to the public
// (completions.md §3, Assets), the files of package segments, and backups in S3.
//
// It owns nothing but bytes. The name of an image or a segment is 32 random hexadecimal digits
// and an extension of its kind; what has such a name never changes, so an answer may be kept for
// ever. Which objects there are, and whose, is for packages asset, segments and backup to know.
//
// Objects of an S3 store that are read often are kept in files, up to a number of bytes.
package blob
