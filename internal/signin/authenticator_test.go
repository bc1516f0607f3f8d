package signin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
)

// authenticator is one in software: it makes one passkey for ES256, without attestation.
type authenticator struct {
	t       *testing.T
	key     *ecdsa.PrivateKey
	id      []byte
	user    []byte
	counter uint32
	// What a real one would not do.
	origin, relyingParty string
	flags                byte
	keyBytes             int // the public key is padded to so many
}

const (
	present, verified, attested = 1, 4, 64
)

func newAuthenticator(t *testing.T) *authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &authenticator{t: t, key: key, id: id, origin: apitest.Origin, relyingParty: "api.example", flags: present | verified}
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) decoded(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		a.t.Fatalf("%q: %v", text, err)
	}
	return b
}

// data is the authenticator data (Web Authentication §6.1).
func (a *authenticator) data(more []byte, flags byte) []byte {
	sum := sha256.Sum256([]byte(a.relyingParty))
	data := append(sum[:], flags)
	return append(binary.BigEndian.AppendUint32(data, a.counter), more...)
}

func (a *authenticator) client(kind, challenge string) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// makes answers options for a new passkey, as the browser's toJSON writes it.
func (a *authenticator) makes(options *apitest.Response) M {
	a.t.Helper()
	a.user = a.decoded(options.Text("data.publicKey.user.id"))
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		a.t.Fatal(err)
	}
	key := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...)
	key = append(append(key, 0x22, 0x58, 32), point[33:]...)
	if more := a.keyBytes - len(key) - 5; more > 0 {
		key[0]++ // a member more, which nobody knows
		key = append(append(key, 0x38, 0x63, 0x59, byte(more>>8), byte(more)), make([]byte, more)...)
	}
	credential := append(make([]byte, 16), 0, byte(len(a.id)))
	data := a.data(append(append(credential, a.id...), key...), a.flags|attested)
	object := append([]byte{0xa3, 0x63}, "fmt"...)
	object = append(append(append(object, 0x64), "none"...), 0x67)
	object = append(append(append(object, "attStmt"...), 0xa0, 0x68), "authData"...)
	object = append(append(object, 0x59, byte(len(data)>>8), byte(len(data))), data...)
	return M{"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key", "clientExtensionResults": M{},
		"authenticatorAttachment": "platform", "response": M{
			"clientDataJSON":    encoded(a.client("webauthn.create", options.Text("data.publicKey.challenge"))),
			"attestationObject": encoded(object), "transports": []string{"internal"},
		}}
}

// signs answers options for a sign-in.
func (a *authenticator) signs(options *apitest.Response) M {
	a.t.Helper()
	a.counter++
	data := a.data(nil, a.flags)
	client := a.client("webauthn.get", options.Text("data.publicKey.challenge"))
	sum := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return M{"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key", "clientExtensionResults": M{}, "response": M{
		"clientDataJSON": encoded(client), "authenticatorData": encoded(data[:37]), "signature": encoded(signature),
		"userHandle": encoded(a.user),
	}}
}
