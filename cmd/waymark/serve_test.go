package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The help of serve lists its flags by concern, under titles.
func TestFlagsOfServeAreGrouped(t *testing.T) {
	parser, err := kong.New(&command{}, kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range parser.Model.Leaves(false) {
		if node.Name != "serve" {
			continue
		}
		for _, flag := range node.Flags {
			if flag.Group == nil || !strings.HasSuffix(flag.Group.Title, ":") {
				t.Errorf("--%s stands in no group with a title", flag.Name)
			}
		}
		if len(node.Flags) == 0 {
			t.Error("serve has no flags")
		}
	}
}
