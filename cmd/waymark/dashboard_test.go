package main

import "testing"

// The address of the API has the form in which browsers name it.
func TestAPIURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://api.example.com": "https://api.example.com", "https://API.example.com:443/": "https://api.example.com",
		"https://api.example.com:8443": "https://api.example.com:8443", "https://b\u00fccher.example": "https://xn--bcher-kva.example",
		"http://localhost:8080": "http://localhost:8080", "http://127.0.0.1:80": "http://127.0.0.1", "http://[::1]:8080": "http://[::1]:8080",
		"https://[2001:db8::1]": "https://[2001:db8::1]", "http://api.example.com": "", "http://192.0.2.1:8080": "", "api.example.com": "",
		"https://api.example.com/v1": "", "https://ann@api.example.com": "", "https://": "", "ftp://localhost": "", "https://a b": "",
	} {
		d := dashboard{APIURL: given}
		if err := d.check(); (err != nil) != (want == "") || err == nil && d.APIURL != want {
			t.Errorf("%s is %s, %v, want %q", given, d.APIURL, err, want)
		}
	}
}
