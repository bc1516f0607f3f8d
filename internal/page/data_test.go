package page

import (
	"maps"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const declared = `{"variables":[{"key":"city","required":true,"maxLength":5},{"key":"size","type":"number"},
	{"key":"lace","type":"boolean"},{"key":"shop","required":true,"defaultValue":"Harbour"},{"key":"long"}]}`

func TestCheckData(t *testing.T) {
	config := configOf(t, declared)
	for data, want := range map[string][]string{
		`{"city":"Köln!","size":-1.5e3,"lace":true,"shop":"a\nb"}`: nil,
		`{"city":"Köln"}`:   nil,
		`{}`:                {"/city required requires it"},
		`{"city":"Kölner"}`: {"/city too_long at most 5 characters"},
		`{"city":1,"size":"1","lace":"true","shop":null}`: {
			"/city wrong_type string", "/size wrong_type number", "/lace wrong_type true or false",
			"/shop wrong_type string"},
		`{"city":["a"],"lace":{},"size":true}`: {
			"/city wrong_type string", "/size wrong_type number", "/lace wrong_type true or false"},
		`{"city":"a\u202eb"}`: {"/city invalid_text direction"},
		`{"city":"a","citty":"b","z":1}`: {"/citty unknown_field did you mean city?",
			"/z unknown_field known are city"},
		`{"city":"a","a/b":1}`:    {"/a~1b unknown_field "},
		`[]`:                      {" wrong_type must be an object"},
		`{"city":"a","city":"b"}`: {" wrong_type must be an object"},
		`{"city":"a","long":"` + strings.Repeat("x", 4000) + `"}`: nil,
		`{"city":"a","long":"` + strings.Repeat("x", 4001) + `"}`: {"/long too_long at most 4000 characters"},
	} {
		wantProblems(t, data, CheckData(config, jsontext.Value(data)), want...)
	}
	const around = len(`{"city":"a","shop":"","long":""}`)
	fill := func(n int) jsontext.Value {
		return jsontext.Value(`{"city":"a","shop":"` + strings.Repeat("é", 2000) + `","long":"` +
			strings.Repeat("é", (n-around-4000)/2) + strings.Repeat("x", (n-around)%2) + `"}`)
	}
	wantProblems(t, "8192 bytes", CheckData(config, fill(MaxDataBytes)))
	wantProblems(t, "8193 bytes", CheckData(config, fill(MaxDataBytes+1)), " too_large at most 8192 bytes")
}

func TestParseData(t *testing.T) {
	got, err := ParseData(`{"city":"K\u00f6ln \"<b>\"","size":42.50,"lace":true}`)
	if err != nil || !maps.Equal(got, map[string]string{"city": `Köln "<b>"`, "size": "42.50", "lace": "true"}) {
		t.Errorf("%v %v", got, err)
	}
	for _, empty := range []string{"", "{}"} {
		if got, err := ParseData(empty); got != nil || err != nil {
			t.Errorf("%q: %v %v", empty, got, err)
		}
	}
	if _, err := ParseData(`[1]`); err == nil {
		t.Error("an array passes")
	}
}

func FuzzCheckData(f *testing.F) {
	config := configOf(f, declared)
	f.Add(`{"city":"a","size":1}`)
	f.Add(`{"city":null,"x":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		data := jsontext.Value(text)
		if data.Format() != nil {
			return
		}
		if len(CheckData(config, data)) > 0 {
			return
		}
		values, err := ParseData(string(data))
		if err != nil {
			t.Fatalf("%s passes but cannot be read: %v", data, err)
		}
		for key := range values {
			if !strings.Contains(declared, `"key":"`+key+`"`) {
				t.Errorf("%s has %q", data, key)
			}
		}
	})
}
