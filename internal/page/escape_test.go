package page

import "testing"

func TestAddresses(t *testing.T) {
	for address, want := range map[string][2]bool{ // of the web, opens an app
		"https://a.example": {true, true}, "HTTP://a": {true, true}, "shop://x": {false, true}, "com.a-b+c:x": {false,
			true},
		"intent://x#Intent;end": {false, true}, "javascript:alert(1)": {}, "JavaScript://%0aalert(1)": {},
		"data:text/html,x": {},
		"vbscript:x":       {}, "blob:https://a": {}, "file:///etc": {}, "about:blank": {}, "view-source:x": {},
		"filesystem:x": {},
		"":             {}, "http": {}, "https": {}, ":x": {}, "//a.example": {}, "/a": {}, "1a:x": {},
		" javascript:x":  {},
		"java\tscript:x": {}, "\x00a:b": {},
		"a b:c": {}, "é:x": {}, "https:a": {false, true},
	} {
		if got := [2]bool{isWeb(address), opensApp(address)}; got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}
