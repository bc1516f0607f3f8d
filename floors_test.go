package waymark_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// floors is the order of packages, lowest first: a package imports only from
// lines below its own. It is written down here alone.
var floors = []string{
	// 1: plain helpers.
	"clock ids fault text clientaddr outbound/publicip csvtable",
	"schema cursor weburl qr/qrimage asset/imagecheck",
	"opt",
	"utm",
	"outbound",
	// 2: the database.
	"store blob",
	// 3: what the pipeline and the product share.
	"clicklog actor ratelimit receipt requestlog",
	"eventstore route publication audit jobs dependents clickcount",
	// 4: the pipeline.
	"op",
	// 5: capabilities. Operations stand below those that start them; apps
	// delete keys and have domains, links need both.
	"delivery",
	"account apikey durable organize webhook",
	"domain",
	"app",
	"asset",
	"link analytics",
	"qr automation",
	"automation/batches automation/exports automation/imports introspect",
	// 6: what runs them.
	"server redirect executor",
	"assembly",
}

// testOnly packages may import anything and are imported by tests alone.
var testOnly = []string{"csvtable/csvtest", "store/storetest", "store/storetest/withpostgres", "apitest"}

func TestFloors(t *testing.T) {
	const prefix = "github.com/waymarkhq/waymark/internal/"
	floor := map[string]int{}
	for i, line := range floors {
		for _, name := range strings.Fields(line) {
			floor[name] = i + 1
		}
	}
	for _, name := range testOnly {
		floor[name] = 0
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", "./internal/...", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		name, internal := strings.CutPrefix(p.ImportPath, prefix)
		own, known := floor[name]
		if internal && !known {
			t.Errorf("%s stands on no floor: add it to the list", name)
		}
		seen[name] = true
		for _, imported := range p.Imports {
			other, ok := strings.CutPrefix(imported, prefix)
			if !ok {
				continue
			}
			switch {
			case own == 0 && internal: // for tests
			case floor[other] == 0:
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, other)
			case internal && floor[other] >= own:
				t.Errorf("%s imports %s, which is not below it", name, other)
			}
		}
	}
	for name := range floor {
		if !seen[name] {
			t.Errorf("%s is on the list but not in the tree", name)
		}
	}
}
