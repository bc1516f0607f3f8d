package platform

// Space is what a file system has left for its users.
type Space struct {
	// Bytes and Files are how much and how many more there may be. Files is the largest number where
	// the file system has no bound.
	Bytes, Files uint64
	// Disk tells file systems apart.
	Disk uint64
}
