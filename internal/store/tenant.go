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

// Tenant is the door to one tenant's rows. It is made by [Store.Tenant], and by [Tenant.Tx] for a transaction.
type Tenant struct {
	store *Store
	id    connectors.TenantID
	scope scope
	q     *dbgen.Queries
	said  *[]Notice // by the transaction so far; nil: there is none

	prints *secret.Keyring // that of the transaction's fingerprints; nil: it has made none
}

func newTenant(st *Store, id connectors.TenantID, s scope) *Tenant {
	return &Tenant{store: st, id: id, scope: s, q: dbgen.New(s)}
}

// Self is the tenant itself.
func (t *Tenant) Self(ctx context.Context) (connectors.Tenant, error) {
	row, err := t.q.Tenant(ctx, t.id)
	if err != nil {
		return connectors.Tenant{}, found(err, "tenant")
	}
	return tenantOf(row), nil
}

// Rename gives the tenant another name; its slug stays.
func (t *Tenant) Rename(ctx context.Context, name string) error {
	n, err := t.q.RenameTenant(ctx, name, t.id)
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// Configure says what the history keeps of the tenant's calls, who reads that, and how long a call waits for a person.
func (t *Tenant) Configure(ctx context.Context, history connectors.CallHistory, readers connectors.BodyReaders, approvalTimeout time.Duration) error {
	n, err := t.q.ConfigureTenant(ctx, dbgen.ConfigureTenantParams{
		CallHistory: history, BodyReaders: readers, ApprovalTimeoutS: int32(approvalTimeout / time.Second), TenantID: t.id,
	})
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// SetDefaults says what the tenant's new agents and connectors begin with. Those that are there stay as they are.
func (t *Tenant) SetDefaults(ctx context.Context, d connectors.Defaults) error {
	n, err := t.q.SetTenantDefaults(ctx, dbgen.SetTenantDefaultsParams{
		Approval:       d.Approval,
		SyncIntervalS:  seconds(d.SyncInterval),
		DefinitionAgeS: seconds(d.DefinitionAge),
		ToolChanges:    d.ToolChanges,
		Listen:         d.Listen,
		TenantID:       t.id,
	})
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// Record appends to the audit log. What an act changes is recorded by [Tenant.RecordChange].
func (t *Tenant) Record(ctx context.Context, e Event) error { return record(ctx, t.q, t.id, e) }

func record(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, e Event) error {
	if err := e.whole(); err != nil {
		return err
	}
	e.Detail = e.detail()
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
		ActorName: clean(e.ActorName),
		Action:    e.Action,
		Target:    clean(e.Target),
		Detail:    cleanJSON(b),
		RequestID: clean(e.RequestID),
		Ip:        clean(e.IP),
	})
}
