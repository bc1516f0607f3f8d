// Package api holds the contract as it is published: an OpenAPI 3.1 document
// generated from the operations (internal/assembly tests that it is theirs),
// and in spec/ what it was made from.
package api

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

// packed is openapi.yaml, which takes 15 times the room in the program.
//
//go:embed openapi.yaml.gz
var packed []byte

// Contract returns the OpenAPI document in YAML. It is not to be changed.
var Contract = sync.OnceValue(func() []byte {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	var text []byte
	if err == nil {
		text, err = io.ReadAll(unpacked)
	}
	if err != nil {
		panic(fmt.Sprintf("api: openapi.yaml.gz, which is part of this program: %v", err))
	}
	return text
})
