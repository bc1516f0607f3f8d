package assembly_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/op"
)

const permissionsPage = "../../docs/permissions.md"

// permissionsHead begins the page of permissions.
const permissionsHead = `# Permissions

An API key holds the permissions that its maker gave it, and reaches the apps that its maker named. A person who is signed in holds
all of them. Each operation needs one permission, which the [API reference](../api/openapi.yaml) tells as well; a test makes
this page of the operations.

- Where **a person** is named, an operation needs a human session: no key may hold its permission, and giving it to a key is refused.
- Some operations need more than their own permission, as they do what others do: a batch needs ` + "`links:create`, `links:update` or\n  `links:delete`" + ` for the actions in it, an import ` + "`links:create`" + `, an export ` + "`links:read` or `analytics:read`" + `, a retry of a
  publication ` + "`templates:publish`" + `, and a change of where a webhook leads ` + "`webhooks:create`" + `.
- A key without the permission gets 403 with ` + "`insufficient_permission`" + `, and the message names what is missing. For what is in an
  app that the key does not reach, the answer is 404.
- Give a key as little as it needs. What it does later is asked again each time: taking a permission away ends it at the next call, and
  before the next effect of work that is under way.

`

// The page of permissions is the one that the rows make.
func TestPermissionsPageIsGolden(t *testing.T) {
	s, _ := contract(t)
	page := []byte(permissionsOf(s.Ops()))
	if *update {
		if err := os.WriteFile(permissionsPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(permissionsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != string(page) {
		t.Error("docs/permissions.md is not what the operations say; run: go test ./internal/assembly -run PermissionsPage -update")
	}
}

// permissionsOf returns the page of permissions.
func permissionsOf(ops []op.Op) string {
	slices.SortStableFunc(ops, func(a, b op.Op) int { return strings.Compare(a.Perm, b.Perm) })
	var b strings.Builder
	b.WriteString(permissionsHead)
	group := ""
	for _, o := range ops {
		if of, _, _ := strings.Cut(o.Perm, ":"); of != group {
			group = of
			fmt.Fprintf(&b, "## %s\n\n| permission | operation | what it does | who |\n| --- | --- | --- | --- |\n", group)
		}
		who := "a key or a person"
		if o.Human {
			who = "**a person**"
		}
		fmt.Fprintf(&b, "| `%s` | `%s %s` | %s | %s |\n", o.Perm, o.Method, o.Path, o.Summary, who)
	}
	return strings.ReplaceAll(b.String(), " |\n## ", " |\n\n## ")
}
