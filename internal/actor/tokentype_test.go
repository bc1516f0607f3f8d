package actor

import (
	"encoding/base64"
	"testing"

	"github.com/go-json-experiment/json"
)

// Claims as the providers document them, with "waymark" as the client or the API.
func TestTokenType(t *testing.T) {
	one, several := []string{"waymark"}, []string{"waymark", "https://id.example/userinfo"}
	for name, c := range map[string]struct {
		header    string
		audiences []string
		claims    string
		session   bool
	}{
		"Keycloak, ID":           {"JWT", one, `{"typ":"ID","azp":"waymark"}`, true},
		"Keycloak, access":       {"JWT", one, `{"typ":"Bearer","azp":"spa","scope":"openid"}`, false},
		"Keycloak, refresh":      {"JWT", one, `{"typ":"Refresh","azp":"waymark"}`, false},
		"Keycloak, logout":       {"JWT", one, `{"typ":"Logout"}`, false},
		"Entra, ID":              {"JWT", one, `{"tid":"t","ver":"2.0"}`, true},
		"Entra, access":          {"JWT", one, `{"azp":"spa","scp":"user_impersonation","ver":"2.0"}`, false},
		"Google, ID":             {"JWT", one, `{"azp":"waymark"}`, true},
		"Google, ID of an app":   {"JWT", one, `{"azp":"android"}`, true},
		"Auth0, ID":              {"JWT", one, `{"sid":"s","nonce":"n"}`, true},
		"Auth0, access":          {"JWT", several, `{"azp":"spa","scope":"openid"}`, false},
		"Auth0, access, RFC9068": {"at+jwt", one, `{"client_id":"spa"}`, false},
		"Dex, ID":                {"", one, `{"at_hash":"h"}`, true},
		"Dex, ID for peers":      {"", several, `{"azp":"waymark"}`, true},
		"Cognito, ID":            {"", one, `{"token_use":"id"}`, true},
		"Cognito, access":        {"", one, `{"token_use":"access"}`, false},
		"Okta, access":           {"", one, `{"scp":["openid"]}`, false},
		"several audiences":      {"JWT", several, `{}`, true},
		"logout":                 {"logout+jwt", one, `{}`, false},
		"media type":             {"application/at+jwt", one, `{}`, false},
		"media type, JWT":        {"application/JWT", one, `{}`, true},
		"security event":         {"JWT", one, `{"events":{}}`, false},
		"claims of other types":  {"jwt", one, `{"typ":["x"],"azp":1}`, true},
	} {
		var claims tokenType
		if err := json.Unmarshal([]byte(c.claims), &claims); err != nil {
			t.Fatal(name, err)
		}
		if reason := claims.notSession(c.header, "waymark", c.audiences); (reason == "") != c.session {
			t.Errorf("%s: %q", name, reason)
		}
	}
	for header, want := range map[string]string{`{"typ":"at+jwt"}`: "at+jwt", `{"alg":"RS256"}`: "", `{`: "unreadable"} {
		if got := headerType(base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.x"); got != want {
			t.Errorf("%s has the type %q", header, got)
		}
	}
}
