package publication_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// An attempt that failed does not undo what another published meanwhile.
func TestFailAfterConfirm(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		id := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		for _, c := range []struct {
			pending, final bool
			status         string
		}{{false, true, "synced"}, {false, false, "synced"}, {true, false, "pending"}, {true, true, "failed"}} {
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				if c.pending {
					if err := publication.Domains.Request(t.Context(), tx, id); err != nil {
						return err
					}
				}
				return publication.Domains.Fail(t.Context(), tx, id, 1, c.final)
			}); err != nil {
				t.Fatal(err)
			}
			owner.Call("GET", "/domains/"+id, nil).Want(200).Has("data.publication.status", `"`+c.status+`"`)
		}
	})
}
