package redirect

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func key(first byte) *[32]byte { return &[32]byte{first} }

func TestToken(t *testing.T) {
	linkID, expires := "a.example:"+ids.New(), storetest.Start.Add(time.Hour)
	text := newToken(key(1), "a.example", linkID, expires)
	if len(text) != 60 || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		t.Errorf("the token is %q", text)
	}
	got, ok := readToken(key(1), "a.example", text)
	if !ok || got.linkID != linkID || got.expires != expires || len(got.digest) != 64 ||
		strings.Contains(got.digest, text) {
		t.Errorf("read %+v, %v", got, ok)
	}
	if other := newToken(key(1), "a.example", linkID, expires); other == text {
		t.Error("two tokens are equal")
	}
	for name, linkID := range map[string]string{
		"of another hostname": "b.example:" + ids.New(), "no UUID": "a.example:x",
		"upper case": strings.ToUpper(linkID), "braces": "a.example:{" + ids.New() + "}", "nothing": "",
	} {
		if got := newToken(key(1), "a.example", linkID, expires); got != "" {
			t.Errorf("an id %s has the token %q", name, got)
		}
	}
	refused := map[string]string{
		"nothing": "", "cut": text[:59], "longer": text + "A", "padded": text[:56] + "====", "with a line": text[:59] + "\n",
		"standard alphabet": strings.Repeat("+", 60), "zeros": strings.Repeat("A", 60),
		"twice": text + text, "with space": " " + text[:59],
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			forged := slices.Clone(raw)
			forged[i] ^= 1 << bit
			if _, ok := readToken(key(1), "a.example", base64.RawURLEncoding.EncodeToString(forged)); ok {
				t.Fatalf("bit %d of byte %d may be turned", bit, i)
			}
		}
	}
	reordered := slices.Clone(raw)
	copy(reordered[5:13], raw[13:21])
	copy(reordered[13:21], raw[5:13])
	refused["reordered"] = base64.RawURLEncoding.EncodeToString(reordered)
	for name, text := range refused {
		if _, ok := readToken(key(1), "a.example", text); ok {
			t.Errorf("a token is read that is %s", name)
		}
	}
	if _, ok := readToken(key(2), "a.example", text); ok {
		t.Error("another installation reads it")
	}
	for _, hostname := range []string{"b.example", "a.example.", "A.example", "", "aa.example"} {
		if _, ok := readToken(key(1), hostname, text); ok {
			t.Errorf("%q reads it", hostname)
		}
	}
}

func FuzzReadToken(f *testing.F) {
	f.Add(newToken(key(1), "a.example", "a.example:"+ids.New(), storetest.Start), "a.example")
	f.Add("", "")
	f.Add(strings.Repeat("A", 60), "a.example")
	f.Fuzz(func(t *testing.T, text, hostname string) {
		// Nobody without the key makes a token: what another key signed is refused too.
		if got, ok := readToken(key(9), hostname, text); ok {
			t.Errorf("%q was read as %+v", text, got)
		}
		if got, ok := readToken(key(1), hostname, text); ok && (!strings.HasPrefix(got.linkID, hostname+":") ||
			newToken(key(1), hostname, got.linkID, got.expires) == "") {
			t.Errorf("%q became %+v", text, got)
		}
	})
}
