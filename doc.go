// Package waymark is the root of a self-hosted link-routing platform. It holds
// no code: the command is cmd/waymark, the packages are below internal, and
// floors_test.go says which may import which.
package waymark
