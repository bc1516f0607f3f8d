package process_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
)

// ownDomain is what the test looks at of a domain.
type ownDomain struct {
	ID, Revision, ZoneName       string
	Ownership, DNS, HTTPS, Links string
	RemovalState                 *string
	Challenge                    struct{ Name, Value, Status string }
	ConnectionRecords            []struct{ Type, Name, Value, Status string }
	LastError                    *struct{ Code, Message string }
	Detached                     bool
	Nameservers                  []string
	Publication                  struct{ Status string }
}

// operation is what the test looks at of one.
type operation struct {
	ID, Status string
	Result     *struct{ Resource struct{ ID string } }
	Error      *struct{ Code, Message string }
}

// follow waits for the end of an operation.
func (o *owner) follow(t *testing.T, started answer) (ended operation) {
	t.Helper()
	id := dataOf[operation](t, started).ID
	eventually(t, "the operation ends", func() error {
		ended = dataOf[operation](t, o.must(t, 200, intent{method: "GET", path: "/operations/" + id}))
		if ended.Status == "queued" || ended.Status == "running" {
			return fmt.Errorf("it is %s", ended.Status)
		}
		return nil
	})
	return ended
}

func (o *owner) domain(t *testing.T, id string) ownDomain {
	t.Helper()
	return dataOf[ownDomain](t, o.must(t, 200, intent{method: "GET", path: "/domains/" + id}))
}

// An owner brings hostnames and they work: with the DNS of a real server, certificates
// of a real authority, and visitors who come over HTTPS.
func TestBringDomain(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		const zone = "shop.example.com"
		dir, public, plain := t.TempDir(), pebbletest.FreeAddress(t), pebbletest.FreeAddress(t)
		keep := func(name string, content []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		knot := dnstest.Knot(t, zone)
		key, err := dnsprovider.ParseKey(dnstest.Key)
		if err != nil {
			t.Fatal(err)
		}
		provider := dnsprovider.NewRFC2136(knot.Address, key)
		// set makes a record as the owner does at the provider of their DNS.
		set := func(name, kind, value string) {
			t.Helper()
			wanted := dnsprovider.Set{Name: name, Type: kind, TTL: 60, Values: []string{value}}
			old, err := provider.Get(t.Context(), zone, name, kind)
			if err == nil {
				err = provider.Replace(t.Context(), zone, old, wanted)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		ca := pebbletest.Start(t, portOf(t, plain), portOf(t, public), pebbletest.Settings{})
		s := serve(t, dir, database, "--tls", "acme", "--acme-directory", ca.Directory, "--acme-ca",
			keep("roots.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Root})),
			"--public-addr", public, "--http-addr", plain, "--connect-ips", "127.0.0.1", "--dns-resolver", knot.Address,
			"--probe-address", public, "--probe-ca", keep("issued.pem", ca.IssuedPEM),
			"--dns-provider", "rfc2136", "--rfc2136-server", knot.Address, "--rfc2136-tsig-file",
			keep("tsig", []byte(dnstest.Key)), "--dns-nameservers", "ns1."+zone)
		o := newOwner(t, s.client(s.token("ann@example.com")))

		// visit asks a hostname over HTTPS.
		visit := func(address string) (*http.Response, error) {
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Issued}, DisableKeepAlives: true,
				DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, public)
				}}
			r, err := http.NewRequest("GET", address, nil)
			if err != nil {
				return nil, err
			}
			answer, err := transport.RoundTrip(r)
			if err == nil {
				answer.Body.Close()
			}
			return answer, err
		}
		verify := func(id string) operation {
			t.Helper()
			return o.follow(t, o.must(t, 202, intent{method: "POST", path: "/domains/" + id + "/verify",
				body: map[string]any{}, ifMatch: o.domain(t, id).Revision}))
		}
		for n, mode := range []string{"external", "managed"} {
			host := []string{"go." + zone, "links." + zone}[n]
			created := o.follow(t, o.must(t, 202, intent{method: "POST", path: "/domains",
				body: map[string]any{"appId": o.app, "mode": mode, "hostname": host}}))
			id := created.Result.Resource.ID
			claim := o.domain(t, id)
			if claim.Ownership != "unverified" || claim.HTTPS != "pending" || claim.Links != "pending" {
				t.Errorf("the claim is %+v", claim)
			}
			if ended := verify(id); ended.Status != "failed" || ended.Error.Code != "ownership_not_proved" {
				t.Errorf("without a record: %+v", ended)
			}
			if _, err := visit("https://" + host + "/a"); err == nil {
				t.Error("a hostname that is not proved has a certificate")
			}

			// The owner adds the records that the domain shows; those of a managed domain are made
			// by the installation.
			set(claim.Challenge.Name, "TXT", claim.Challenge.Value)
			if mode == "external" {
				for _, r := range claim.ConnectionRecords {
					set(r.Name, r.Type, r.Value)
				}
			}
			if ended := verify(id); ended.Status != "succeeded" {
				t.Fatalf("with the records: %+v", *ended.Error)
			}
			ready := o.domain(t, id)
			if ready.Ownership != "verified" || ready.DNS != "configured" || ready.HTTPS != "active" || ready.Links != "ready" ||
				ready.LastError != nil || ready.ConnectionRecords[0].Status != "ok" {
				t.Errorf("the domain is %+v", ready)
			}
			made := dataOf[link](t, o.must(t, 201, intent{method: "POST", path: "/links", body: map[string]any{
				"appId": o.app, "domain": host, "slug": "a", "desktopUrl": "https://example.com/" + strconv.Itoa(n)}}))
			eventually(t, "the link leads on", func() error {
				answer, err := visit("https://" + host + "/a")
				if err != nil || answer.StatusCode != 302 || answer.Header.Get("Location") != "https://example.com/"+strconv.Itoa(n) {
					return fmt.Errorf("%v, %w", answer, err)
				}
				return nil
			})

			// Once it is given back, nothing is left of it.
			o.must(t, 204, intent{method: "DELETE", path: "/links/" + url.PathEscape(made.ID), ifMatch: made.Revision})
			if ended := o.follow(t, o.must(t, 202, intent{method: "DELETE", path: "/domains/" + id,
				ifMatch: ready.Revision})); ended.Status != "succeeded" {
				t.Errorf("detached: %+v", ended)
			}
			if gone := o.domain(t, id); !gone.Detached || *gone.RemovalState != "removed" {
				t.Errorf("the detached domain is %+v", gone)
			}
			eventually(t, "the hostname is refused", func() error {
				if answer, err := visit("https://" + host + "/a"); err == nil {
					return fmt.Errorf("%d", answer.StatusCode)
				}
				return nil
			})
			if left := knot.Records(t, host, "A"); mode == "managed" && len(left) > 0 {
				t.Errorf("records are left: %q", left)
			}
		}
		s.terminate()
	})
}
