package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

// A job is part of the transaction of the change that needs it, and is removed in
// the transaction of its effects.
func ExampleEnqueue() {
	dir, err := os.MkdirTemp("", "jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "waymark.db"), &clock.Clock{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(db.InTx(ctx, func(tx *store.Tx) error {
		return jobs.Enqueue(ctx, tx, "tag.clean", "the id of a tag", "", actor.Grant{})
	}))

	claimed, err := jobs.Claim(ctx, db, jobs.Lease, 10, []string{"tag.clean"})
	fmt.Println(len(claimed), claimed[0].Payload, err)
	finish := func(tx *store.Tx) error { return jobs.Finish(ctx, tx, claimed[0]) }
	fmt.Println(db.InTx(ctx, finish))
	// Once more, as an executor would that lost its lease.
	fmt.Println(errors.Is(db.InTx(ctx, finish), jobs.ErrLeaseLost))
	// Output:
	// <nil>
	// 1 the id of a tag <nil>
	// <nil>
	// true
}
