package api

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The operations are those of the table that the contract was made from.
func TestOperationsAreTheTable(t *testing.T) {
	table, err := os.ReadFile("spec/operations.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(table)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		want = append(want, columns[4]+" "+columns[0]+" "+columns[1])
	}
	for _, o := range Operations() {
		got = append(got, o.ID+" "+o.Method+" "+o.Path)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("operations of the contract:\n%s\nwant those of the table:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func find(t *testing.T, id string) *Operation {
	t.Helper()
	all := Operations()
	i := slices.IndexFunc(all, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("no operation %s", id)
	}
	return &all[i]
}

func TestOperation(t *testing.T) {
	list := find(t, "getLinks")
	if p := list.Parameters[0]; p.Name != "appId" || p.InPath || !p.Required || p.Schema.Type != "string" {
		t.Errorf("getLinks: first parameter %+v", p)
	}
	if !list.Paged || list.Mutates() || list.Data.Type != "array" || list.Data.Items.Member("slug") == nil || list.Tagged {
		t.Errorf("getLinks: %+v", list)
	}
	change := find(t, "updateLinksLinkId")
	if p := change.Parameters[0]; p.Name != "linkId" || !p.InPath || !change.NeedsRevision || !change.TakesRevision {
		t.Errorf("updateLinksLinkId: %+v", change)
	}
	if m := change.Body.Member("lifecycle").Member("archived"); m == nil || m.Type != "boolean" {
		t.Errorf("lifecycle.archived: %+v", m)
	}
	if m := change.Body.Member("behavior"); !slices.Equal(m.Enum, []string{"manual", "automatic", "intelligent"}) {
		t.Errorf("behavior: %+v", m)
	}
	if o := find(t, "getMe"); o.Paged || o.Body != nil || o.Data.Member("email") == nil {
		t.Errorf("getMe: %+v", o)
	}
	if o := find(t, "createAssets"); !o.Upload || o.Body.Member("file") == nil {
		t.Errorf("createAssets: %+v", o)
	}
	if o := find(t, "getLinksLinkIdQr"); o.Data != nil || !slices.Contains(o.Files, "image/png") {
		t.Errorf("getLinksLinkIdQr: %+v", o)
	}
	// What is a list or a file.
	if o := find(t, "getImportsImportIdItems"); !o.Paged || !slices.Contains(o.Files, "text/csv") {
		t.Errorf("getImportsImportIdItems: %+v", o)
	}
	if o := find(t, "deleteFoldersFolderId"); o.Data != nil || o.Files != nil || !o.NeedsRevision {
		t.Errorf("deleteFoldersFolderId: %+v", o)
	}
	// Required members stand as such.
	for _, m := range find(t, "createLinks").Body.Members {
		if want := slices.Contains([]string{"appId", "domain", "slug"}, m.Name); m.Required != want {
			t.Errorf("createLinks: %s is required: %v", m.Name, m.Required)
		}
	}
}
