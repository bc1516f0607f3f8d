package actor

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Tokens of one issuer are alike, and all have its signature. A session is an ID token,
// which says that its subject signed in. An access token may have been given to some
// other program, and a logout token is sent to whoever listens for it. Issuers tell
// them apart in different ways; what no ID token has is refused:
//
//   - another type in the header than JWT (RFC 9068, OpenID Connect Back-Channel Logout)
//   - a claim typ of Keycloak's other tokens, a claim token_use of Cognito's
//   - a claim scp, the scopes of access tokens at Entra and Okta
//   - a claim events, which security event tokens have (RFC 8417)
//   - several audiences and another azp, as in Auth0's access tokens. Google's ID tokens
//     have one audience, and an azp that differs from it.
//
// typ, azp, scp and the others are of type any: claims of an unexpected type are no
// reason to refuse a token.
type tokenType struct {
	Type     any `json:"typ"`
	TokenUse any `json:"token_use"`
	SCP      any `json:"scp"`
	AZP      any `json:"azp"`
	// Events is what logout and other security event tokens have.
	Events any `json:"events"`
}

// keycloakTypes are the claims typ of Keycloak's tokens that are no ID tokens.
var keycloakTypes = []any{"Bearer", "DPoP", "Refresh", "Offline", "Logout"}

// notSession returns why a token with this type in its header and these audiences is
// none of a session, or "". own is the audience that sessions here have.
func (t tokenType) notSession(headerType, own string, audiences []string) string {
	kind := strings.TrimPrefix(strings.ToLower(headerType), "application/")
	switch {
	case kind != "" && kind != "jwt":
		return "its header has the type " + storable(kind, maxName)
	case slices.Contains(keycloakTypes, t.Type):
		return "its typ is " + t.Type.(string)
	case t.TokenUse != nil && t.TokenUse != "id":
		return "its token_use is not id"
	case t.SCP != nil:
		return "it has scp, the scopes of an access token"
	case t.Events != nil:
		return "it has events, as logout tokens do"
	case len(audiences) > 1 && t.AZP != nil && t.AZP != own:
		return "of its audiences, azp names another"
	}
	return ""
}

// headerType returns the type in the header of a token whose signature holds.
func headerType(token string) string {
	part, _, _ := strings.Cut(token, ".")
	var header struct {
		Type string `json:"typ"`
	}
	if text, err := base64.RawURLEncoding.DecodeString(part); err != nil || json.Unmarshal(text, &header) != nil {
		return "unreadable"
	}
	return header.Type
}
