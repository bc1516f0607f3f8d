package actor

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/fault"
)

// cause is why a credential is refused, as its sender may read it. A cause
// about the state of a key is told only to a sender of the whole key, one
// about a session only to a sender of a token with a valid signature: nobody
// learns by guessing what exists.
type cause string

const (
	noCredential cause = "No credential was sent. Send an API key or a session token in the header Authorization: " +
		"Bearer <credential>."
	malformedHeader cause = "The Authorization header is malformed. Send the word Bearer, a space and one API key or " +
		"session token."

	mistypedKey      cause = "The API key is incomplete or mistyped."
	otherEnvironment cause = "The API key belongs to the other environment: production keys begin with svc_live_, " +
		"staging keys with svc_test_."
	unknownKey cause = "The API key is not valid."
	expiredKey cause = "The API key has expired. Issue a new one."
	revokedKey cause = "The API key was revoked."

	invalidToken    cause = "The session token is not valid."
	otherIssuer     cause = "The session token comes from an issuer that this installation does not accept."
	otherToken      cause = "The token is none of a session. Send the ID token of the sign-in, not an access token."
	otherAudience   cause = "The session token was issued for another audience."
	expiredSession  cause = "The session has expired. Sign in again."
	endedSession    cause = "The session was ended. Sign in again."
	tooManySessions cause = "The owner has too many sessions at once. Wait until some expire, or ask the operator of " +
		"this installation to end some."
	notAnOwner cause = "The session's user is not an owner of this installation. Ask its operator to add the user."

	otherSite cause = "The request comes from another site, for which the cookie of a browser does not count. Ask from a page " +
		"of the dashboard, at the address that --api-url names."
	unknownBrowser cause = "The browser is not signed in. Sign in again."
	unknownLink    cause = "The address was used before, is older than ten minutes, or was never made. Ask for another one."
	notAllowed     cause = "Nobody may enter whom no rule of this installation lets in. Ask its operator."

	disabledOwner cause = "The owner of this credential is disabled. Ask the operator of this installation."
	lostGrant     cause = "The credential is no longer accepted."
)

func (c cause) refusal() error { return fault.New(fault.Unauthenticated, "%s", string(c)) }

// maxReason bounds what a refused token can write into the log, in bytes.
const maxReason = 300

// because adds a reason that only the log gets. It must not contain a
// credential.
func (c cause) because(format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	return fmt.Errorf("%w (%s)", c.refusal(), reason[:min(len(reason), maxReason)])
}
