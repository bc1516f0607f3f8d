package actor

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// All of a key is on the disk before the file has its name, so that no crash leaves
// half a key. A key that cannot be synced is none, and leaves nothing.
func TestKeyIsSynced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "session-key.json")
	var synced []byte
	fsync := func(f *os.File) (err error) {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file has its name before it is synced: %v", err)
		}
		synced, err = os.ReadFile(f.Name())
		return err
	}
	full := func(*os.File) error { return syscall.EIO }
	if _, err := makeKey(file, full); !errors.Is(err, syscall.EIO) {
		t.Errorf("a key that is not synced: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a key that is not synced leaves %v, %v", left, err)
	}
	if _, err := makeKey(file, fsync); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || len(text) == 0 || !bytes.Equal(text, synced) {
		t.Errorf("of %d bytes, %d were synced: %v", len(text), len(synced), err)
	}
}

// The error for a key file that cannot be read, or holds something else, names the file, which stays as it is.
func TestUnusableKeyFile(t *testing.T) {
	eachWorld(t, func(w *world) {
		dir := t.TempDir()
		texts := map[string]string{"half": `{"kty":"OKP`, "symmetric": `{"kty":"oct","k":"eA","kid":"x"}`}
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"half", "symmetric", "folder"} {
			file := filepath.Join(dir, name)
			if key, id, err := signingKey(w.Context(), w.db, file); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: %v, %q, %v", name, key, id, err)
			}
			if info, err := os.Stat(file); err != nil || info.IsDir() != (name == "folder") {
				t.Errorf("%s has become %v, %v", name, info, err)
			}
			if text, _ := os.ReadFile(file); string(text) != texts[name] {
				t.Errorf("%s has become %q", name, text)
			}
		}
	})
}

// The keys of the local issuer verify the algorithm that signs its sessions, and no other one, whoever asks them.
func TestLocalKeysVerifyOneAlgorithm(t *testing.T) {
	eachWorld(t, func(w *world) {
		keys, public := localKeys{w.db}, []byte(w.key.Public().(ed25519.PublicKey))
		for name, token := range map[string]string{"HS256": sign(t, jose.HS256, public, w.keyID, w.claims(nil)), "nothing": "", "x": "x"} {
			if payload, err := keys.VerifySignature(t.Context(), token); err == nil || payload != nil {
				t.Errorf("%s: %q, %v", name, payload, err)
			}
		}
		if payload, err := keys.VerifySignature(t.Context(), w.token); err != nil || len(payload) == 0 {
			t.Errorf("a session: %q, %v", payload, err)
		}
	})
}
