package visitortest

import (
	"net"
	"os"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// Network is a network with the country and the registered country that a file
// says of it.
type Network [3]string

// WriteCountries writes a file in MaxMind's format.
func WriteCountries(t testing.TB, path string, networks ...Network) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range networks {
		value := mmdbtype.Map{"continent": mmdbtype.Map{"code": mmdbtype.String("EU")}}
		for name, code := range map[string]string{"country": r[1], "registered_country": r[2]} {
			if code != "" {
				value[mmdbtype.String(name)] = mmdbtype.Map{
					"geoname_id": mmdbtype.Uint32(7), "iso_code": mmdbtype.String(code),
					"names": mmdbtype.Map{"en": mmdbtype.String("Name of " + code)},
				}
			}
		}
		Insert(t, tree, r[0], value)
	}
	Write(t, tree, path)
}

// Insert has a file say something of a network.
func Insert(t testing.TB, tree *mmdbwriter.Tree, network string, value mmdbtype.DataType) {
	t.Helper()
	_, parsed, err := net.ParseCIDR(network)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Insert(parsed, value); err != nil {
		t.Fatal(err)
	}
}

// Write moves a file to its place, as what replaces one in use must be.
func Write(t testing.TB, tree *mmdbwriter.Tree, path string) {
	t.Helper()
	file, err := os.Create(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
