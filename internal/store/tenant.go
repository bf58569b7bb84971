package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Tenant is the entry point to one tenant's rows, in parts. [Store.Tenant] makes it, and [Tenant.Tx] for a
// transaction.
type Tenant struct{ *tenant }

// tenant is what the parts of a Tenant share.
type tenant struct {
	store   *Store
	id      connectors.TenantID
	scope   scope
	q       *dbgen.Queries
	notices *[]ChangeEvent // of the transaction so far; nil: no transaction

	fingerprintKeys *secret.Keyring // for the transaction's fingerprints; nil: none yet
}

func newTenant(st *Store, id connectors.TenantID, s scope) *Tenant {
	return &Tenant{&tenant{store: st, id: id, scope: s, q: dbgen.New(s)}}
}

// Self reads the tenant's own row.
func (t *Tenant) Self(ctx context.Context) (connectors.Tenant, error) {
	row, err := t.q.Tenant(ctx, t.id)
	if err != nil {
		return connectors.Tenant{}, rowError(err, "tenant")
	}
	return toTenant(row), nil
}

// Rename changes the tenant's name; its slug stays.
func (t *Tenant) Rename(ctx context.Context, name string) error {
	n, err := t.q.RenameTenant(ctx, name, t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// SetCallSettings sets what the call history keeps, which roles read it, and how long a call waits for approval. A tenant
// that keeps no history forgets what its searches taught.
func (t *Tenant) SetCallSettings(ctx context.Context, history connectors.CallHistory, readers connectors.BodyReaders, approvalTimeout time.Duration) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.SetCallSettings(ctx, dbgen.SetCallSettingsParams{
			CallHistory: history, BodyReaders: readers, ApprovalTimeoutS: int32(approvalTimeout / time.Second), TenantID: t.id,
		})
		if err = affectedError(n, err, "tenant"); err == nil && history == connectors.HistoryNone {
			err = tx.q.DeleteLearnedTerms(ctx, t.id)
		}
		return tx.notifyChange(err, "tenant", t.id)
	})
}

// SetDownAfter sets when failing connectors count as down.
func (t *Tenant) SetDownAfter(ctx context.Context, d connectors.DownAfter) error {
	n, err := t.q.SetDownAfter(ctx, int32(d.Failures), int32(d.Minutes), t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// RefuseInvalidResults sets whether the gateway refuses results that do not fit their output schema.
func (t *Tenant) RefuseInvalidResults(ctx context.Context, refuse bool) error {
	n, err := t.q.RefuseInvalidResults(ctx, refuse, t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// FirstSteps reads how far the tenant is on the way to its first agent call.
func (t Lists) FirstSteps(ctx context.Context) (connectors.FirstSteps, error) {
	r, err := t.q.FirstSteps(ctx, t.id)
	return connectors.FirstSteps{Connector: r.Connector, Agent: r.Agent, Granted: r.Granted, Used: r.Used}, err
}

// DismissFirstSteps hides the checklist of the first steps for good.
func (t Lists) DismissFirstSteps(ctx context.Context) error {
	n, err := t.q.DismissFirstSteps(ctx, t.id)
	return affectedError(n, err, "tenant")
}

// SetDefaults sets the defaults of new agents and connectors.
func (t *Tenant) SetDefaults(ctx context.Context, d connectors.Defaults) error {
	n, err := t.q.SetTenantDefaults(ctx, dbgen.SetTenantDefaultsParams{
		Approval:       d.Approval,
		SyncIntervalS:  toSeconds(d.SyncInterval),
		DefinitionAgeS: toSeconds(d.DefinitionAge),
		ToolChanges:    d.ToolChanges,
		Listen:         d.Listen,
		TenantID:       t.id,
	})
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// Record appends an audit entry. For changes use [Tenant.RecordChange].
func (t Audit) Record(ctx context.Context, e Event) error { return recordEvent(ctx, t.q, t.id, e) }

func recordEvent(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, e Event) error {
	if err := e.checkStates(); err != nil {
		return err
	}
	e.Detail = e.storedDetail()
	return insertEvent(ctx, q, tenant, e)
}

func insertEvent(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, e Event) error {
	detail := e.Detail
	if detail == nil {
		detail = map[string]any{}
	}
	b, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Action, err)
	}
	return q.RecordEvent(ctx, dbgen.RecordEventParams{
		TenantID:  tenant,
		ID:        newID(),
		ActorType: e.ActorType,
		ActorID:   e.ActorID,
		ActorName: cleanText(e.ActorName),
		Action:    e.Action,
		Target:    cleanText(e.Target),
		Detail:    cleanJSON(b),
		RequestID: cleanText(e.RequestID),
		Ip:        cleanText(e.IP),
	})
}
