// Package api holds the contract as it is published: an OpenAPI 3.1 document
// generated from the operations (internal/assembly tests that it is theirs),
// and in spec/ what it was made from.
package api

import _ "embed"

// Contract is the OpenAPI document in YAML.
//
//go:embed openapi.yaml
var Contract []byte
