package redirect_test

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// What visitors and apps send, and nobody may find again.
var private = []string{"203.0.113.77", "2001:db8:77::4d", "MarkedBrowser/9.9", "marked-page", "marked-install"}

// Neither the click log, nor the database, nor a file of events, nor the log has the
// address of a visitor, the whole user agent, the page that a visitor came from, the id
// of an installation, or a token.
func TestNothingLeadsBackToVisitors(t *testing.T) {
	for _, database := range storetest.Engines {
		for _, events := range []string{"segments", "database"} {
			t.Run(database+"/"+events, func(t *testing.T) {
				var log apitest.Journal
				address := storetest.Address(t, database)
				i := apitest.New(t, database, apitest.Options{Events: events, Database: address, Log: &log})
				owner, linkID := shop(t, i)
				secrets := private
				for _, client := range private[:2] {
					from := []string{"X-Forwarded-For", client, "User-Agent", "Mozilla/5.0 (Linux; Android 14) " + private[2],
						"Referer", "https://www.example.org/" + private[3]}
					header := http.Header{}
					for n := 0; n < len(from); n += 2 {
						header.Set(from[n], from[n+1])
					}
					i.Visit(t, "https://"+owner.Host+"/p/x", header, nil)
					i.Visit(t, "https://"+owner.Host+"/unknown", header, nil)
					token := newToken(t, i, owner.Host, "p/x", "X-Forwarded-For", client)
					secrets = append(secrets, token)
					say(t, i, owner.Host, "recover", M{"token": token}, 200, from...)
					say(t, i, owner.Host, "events", M{"events": []M{{"type": "app_open", "linkId": linkID,
						"installId": private[4]}}}, 202, from...)
				}
				addresses := []string{i.DataDir}
				wantNone(t, addresses, secrets) // the click log
				i.LoadClicks(t)
				wantNone(t, append(addresses, dump(t, i.DB, address)), secrets)
				if events == "segments" {
					i.Clock.Move(25 * time.Hour)
					sealed(t, i)
				}
				wantNone(t, append(addresses, dump(t, i.DB, address)), secrets)
				for _, secret := range secrets {
					if strings.Contains(log.String(), secret) {
						t.Errorf("the log has %s:\n%s", secret, &log)
					}
				}
			})
		}
	}
}

// sealed makes all events files.
func sealed(t *testing.T, i *apitest.Installation) {
	t.Helper()
	e, err := assembly.OpenEngine(t.Context(), assembly.EngineOptions{EngineSettings: assembly.EngineSettings{
		Address: assembly.Segments}, DB: i.DB, DataDir: i.DataDir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer assembly.CloseEngine(e)
	for more := true; more; {
		if more, err = e.(*segments.Engine).Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(i.DataDir, "events", "*.parquet")); len(files) != 1 || err != nil {
		t.Fatalf("files %v, %v", files, err)
	}
}

// dump writes the whole database into a file of a new folder, and returns the folder.
func dump(t *testing.T, db *store.DB, address string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	out, err := os.Create(filepath.Join(dir, "dump"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		for _, name := range []string{file, file + "-wal"} {
			content, err := os.ReadFile(name)
			if err == nil {
				_, err = out.Write(content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	tables, err := store.All(t.Context(), db, store.Value[string],
		"SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
	if err != nil || len(tables) < 20 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		rows, err := store.All(t.Context(), db, store.Value[string], "SELECT CAST(x AS TEXT) FROM "+table+" x")
		if err == nil {
			_, err = out.WriteString(strings.Join(rows, "\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wantNone requires that no file below some folders has one of the secrets, in any form.
func wantNone(t *testing.T, dirs, secrets []string) {
	t.Helper()
	forms := map[string]string{}
	for _, secret := range secrets {
		forms[secret], forms[hex.EncodeToString([]byte(secret))] = secret, secret
		if a, err := netip.ParseAddr(secret); err == nil && a.Is6() { // four bytes may be anything
			binary := a.As16()
			forms[string(binary[:])], forms[hex.EncodeToString(binary[:])] = secret, secret
		}
	}
	found := 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			found += len(content)
			for form, secret := range forms {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("%s has %s", filepath.Base(path), secret)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Errorf("there is nothing in %v", dirs)
	}
}
