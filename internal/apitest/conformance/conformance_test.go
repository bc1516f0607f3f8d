package conformance_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest/conformance"
)

func TestValidate(t *testing.T) {
	for document, valid := range map[string]bool{
		"openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {}\n":      true,
		"openapi: 3.1.0\ninfo: {title: T}\npaths: {}\n":                    false,
		"openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {a: {}}\n": false,
		"openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: [1]\n":     false,
		"openapi: 4.0.0\ninfo: {title: T, version: '1'}\npaths: {}\n":      false,
		"info: {title: T, version: '1'}\npaths: {}\n":                      false,
	} {
		if wrong, err := conformance.Validate([]byte(document)); (len(wrong) == 0 && err == nil) != valid {
			t.Errorf("%s: %q, %v", document, wrong, err)
		}
	}
}
