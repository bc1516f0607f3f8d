package publishing

import (
	"context"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// retention is how long publications that are over can be read.
const retention = 30 * 24 * time.Hour

// isUnderWay is the condition of a row of table template_publication whose work goes
// on.
const isUnderWay = "state IN ('queued', 'applying')"

const columns = "id, app_id, template_id, action, base, mode, version, state, phase, error, revision, created_at, updated_at"

// selection reads publications, and whether the redirector has their versions.
const selection = "SELECT " + columns + `, CASE WHEN version IS NULL THEN NULL WHEN EXISTS (SELECT 1 FROM route_template
	AS r WHERE r.template_id = template_publication.template_id AND r.version = template_publication.version)
	THEN 'available' ELSE 'prepared' END FROM template_publication`

// scan reads a publication; its targets are left to readTargets.
func scan(r store.Row) (p Publication, err error) {
	if err = r.Scan(&p.ID, &p.AppID, &p.templateID, &p.Action, &p.BaseTemplateID, &p.Choice.Mode, &p.Choice.Version,
		&p.State, &p.Phase, &p.Error, &p.Revision, &p.CreatedAt, &p.UpdatedAt, &p.VersionAvailability); err != nil {
		return p, err
	}
	if p.Choice.Mode == binding.Custom {
		p.Choice.TemplateID = &p.templateID
	}
	return p, nil
}

// readTargets adds their targets to publications.
func readTargets(ctx context.Context, q store.Q, all []Publication) error {
	var ids []any
	byID := map[string]*Publication{}
	for i := range all {
		all[i].Targets = []Target{}
		ids, byID[all[i].ID] = append(ids, all[i].ID), &all[i]
	}
	for some := range store.Chunks(ids) {
		if _, err := store.All(ctx, q, func(r store.Row) (_ struct{}, err error) {
			var id string
			var t Target
			if err = r.Scan(&id, &t.ordinal, &t.Scope, &t.holder, &t.expected, &t.expectedLink, &t.State, &t.Error,
				&t.AppliedRevision); err != nil {
				return struct{}{}, err
			}
			switch holder := t.holder; t.Scope {
			case Domain:
				t.DomainID = &holder
			case Link:
				t.LinkID = &holder
			}
			byID[id].Targets = append(byID[id].Targets, t)
			return struct{}{}, nil
		}, `SELECT publication_id, ordinal, scope, holder, expected_revision, expected_link_revision, state, error,
			applied_revision FROM template_publication_target WHERE publication_id IN (`+store.Marks(len(some))+
			") ORDER BY publication_id, ordinal", some...); err != nil {
			return err
		}
	}
	return nil
}

// load returns a publication, or the refusal of a missing one.
func load(ctx context.Context, q store.Q, id string) (_ Publication, err error) {
	defer fault.Wrap(&err, "publishing.load(%s)", id)
	p, err := op.Found(store.One(ctx, q, scan, selection+" WHERE id = ?", id))
	if err != nil {
		return p, err
	}
	one := []Publication{p}
	err = readTargets(ctx, q, one)
	return one[0], err
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM template_publication WHERE id = ?", id)
}

// insert stores a new publication with its targets.
func (p *Publication) insert(ctx context.Context, tx *store.Tx) error {
	p.ID, p.Revision, p.CreatedAt, p.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	if _, err := tx.Exec(ctx, "INSERT INTO template_publication ("+columns+") VALUES ("+store.Marks(13)+")",
		p.ID, p.AppID, p.templateID, p.Action, p.BaseTemplateID, p.Choice.Mode, p.Choice.Version, p.State, p.Phase,
		p.Error, p.Revision, p.CreatedAt, p.UpdatedAt); err != nil {
		return err
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if err := tx.Send(ctx, `INSERT INTO template_publication_target (publication_id, ordinal, scope, holder, base,
			expected_revision, expected_link_revision, state) VALUES (`+store.Marks(8)+")",
			p.ID, t.ordinal, t.Scope, t.holder, p.BaseTemplateID, t.expected, t.expectedLink, t.State); err != nil {
			return err
		}
	}
	return nil
}

// save stores how far a publication is under a new revision.
func (p *Publication) save(ctx context.Context, tx *store.Tx) error {
	p.Revision, p.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, `UPDATE template_publication SET state = ?, phase = ?, error = ?, revision = ?,
		updated_at = ? WHERE id = ?`, p.State, p.Phase, p.Error, p.Revision, p.UpdatedAt, p.ID)
	return err
}

// saveTarget stores how far a target of a publication is. The publication is saved
// with it, because the target is part of its revision.
func (p *Publication) saveTarget(ctx context.Context, tx *store.Tx, t *Target) error {
	return tx.Send(ctx, `UPDATE template_publication_target SET state = ?, error = ?, applied_revision = ?,
		expected_revision = ?, expected_link_revision = ? WHERE publication_id = ? AND ordinal = ?`,
		t.State, t.Error, t.AppliedRevision, t.expected, t.expectedLink, p.ID, t.ordinal)
}

// supersede takes the targets of a publication that wait in older ones away from
// those: the newest intent decides.
func (p *Publication) supersede(ctx context.Context, tx *store.Tx) error {
	var holders []any
	for i := range p.Targets {
		if p.Targets[i].State == TargetPending {
			holders = append(holders, p.Targets[i].holder)
		}
	}
	older, err := store.All(ctx, tx, store.Value[string], `UPDATE template_publication_target SET state = 'superseded',
		error = ? WHERE state = 'pending' AND base = ? AND publication_id <> ? AND holder IN (`+
		store.Marks(len(holders))+") RETURNING publication_id",
		append([]any{"A newer publication took the target over.", p.BaseTemplateID, p.ID}, holders...)...)
	if err != nil || len(older) == 0 {
		return err
	}
	args := []any{ids.Revision(), tx.Now}
	for _, id := range older {
		args = append(args, id)
	}
	_, err = tx.Exec(ctx, "UPDATE template_publication SET revision = ?, updated_at = ? WHERE id IN ("+
		store.Marks(len(older))+")", args...)
	return err
}

// Sweep removes at most limit publications that were over longer ago than their
// retention, and returns how many.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "publishing.Sweep")
	before := db.Now().Add(-retention)
	return db.Exec(ctx, `DELETE FROM template_publication WHERE id IN (SELECT p.id FROM app AS a
		JOIN template_publication AS p ON p.app_id = a.id AND p.created_at < ? WHERE p.updated_at < ?
		AND NOT p.`+isUnderWay+" LIMIT ?)", before, before, limit)
}

// end stores the final state of a publication and emits its event. That a newer
// publication took all over is no failure.
func (p *Publication) end(ctx context.Context, tx *store.Tx) error {
	p.conclude()
	if err := p.save(ctx, tx); err != nil || p.State == Superseded {
		return err
	}
	event := delivery.TemplatePublicationFailed
	if p.State == Confirmed {
		event = delivery.TemplatePublicationSucceeded
	}
	return delivery.Emit(ctx, tx, event, p.ref())
}

// applied begins a query for the applied targets of a publication with a scope.
const applied = "SELECT t.ordinal FROM template_publication_target AS t JOIN "

// projections returns the ordinals of the applied targets whose way to the redirector
// has a status. An app's are those of its domains that visitors know.
func (p *Publication) projections(ctx context.Context, q store.Q, status string) ([]int64, error) {
	const of = " WHERE t.publication_id = ? AND t.state = 'applied' AND r.publication_status = ? AND t.scope = "
	return store.All(ctx, q, store.Value[int64], applied+"link AS r ON r.id = t.holder"+of+"'link' UNION "+
		applied+"domain AS r ON r.id = t.holder"+of+"'domain' UNION "+
		applied+"domain AS r ON r.app_id = t.holder AND NOT r.detached AND r.publication_confirmed IS NOT NULL"+of+"'app'",
		p.ID, status, p.ID, status, p.ID, status)
}
