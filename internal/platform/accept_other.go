//go:build unix && !linux

package platform

// refuseNew does nothing: other systems have no way for a socket that listens to take no more connections.
func refuseNew(int) {}
