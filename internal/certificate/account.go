package certificate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io/fs"
	"path"

	"github.com/caddyserver/certmagic"
	"github.com/go-json-experiment/json"
	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/fault"
)

// account is the installation's account at the authority, as it is stored.
type account struct {
	Location string `json:"location"`
	Key      string `json:"privateKey"` // PEM
}

// accountKey is the key of the account's file.
func (i *issuer) accountKey() string { return path.Join("acme", i.IssuerKey(), "account.json") }

// account returns the installation's account, which the first process registers.
func (i *issuer) account(ctx context.Context) (_ acme.Account, err error) {
	defer fault.Wrap(&err, "certificate.account")
	if found, err := i.loadAccount(ctx); !errors.Is(err, fs.ErrNotExist) {
		return found, storageFailed(err)
	}
	if err := i.storage.Lock(ctx, i.accountKey()); err != nil {
		return acme.Account{}, storageFailed(err)
	}
	defer i.storage.Unlock(context.WithoutCancel(ctx), i.accountKey())
	if found, err := i.loadAccount(ctx); !errors.Is(err, fs.ErrNotExist) {
		return found, storageFailed(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return acme.Account{}, err
	}
	wanted := acme.Account{TermsOfServiceAgreed: true, PrivateKey: key}
	if i.Email != "" {
		wanted.Contact = []string{"mailto:" + i.Email}
	}
	registered, err := again(func() (acme.Account, error) { return i.client.NewAccount(ctx, wanted) })
	if err != nil {
		return acme.Account{}, err
	}
	registered.PrivateKey = key
	return registered, storageFailed(i.saveAccount(ctx, registered))
}

func (i *issuer) saveAccount(ctx context.Context, a acme.Account) error {
	key, err := certmagic.PEMEncodePrivateKey(a.PrivateKey)
	if err != nil {
		return err
	}
	text, err := json.Marshal(account{Location: a.Location, Key: string(key)})
	if err != nil {
		return err
	}
	return i.storage.Store(ctx, i.accountKey(), text)
}

func (i *issuer) loadAccount(ctx context.Context) (a acme.Account, err error) {
	text, err := i.storage.Load(ctx, i.accountKey())
	if err != nil {
		return a, err
	}
	var stored account
	if err := json.Unmarshal(text, &stored); err != nil {
		return a, errors.New("the stored account is damaged") // its key stays out of the message
	}
	a = acme.Account{Status: acme.StatusValid, Location: stored.Location}
	a.PrivateKey, err = certmagic.PEMDecodePrivateKey([]byte(stored.Key))
	return a, err
}
