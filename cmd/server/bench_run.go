package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/jobs"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// benching is one run of the benchmark.
type benching struct {
	benchCommand
	pool    *pgxpool.Pool
	store   *store.Store
	servers *benchServers
	syncer  *toolsync.Syncer
	runner  *jobs.Runner
	queries benchQueries
	done    chan benchDone
	over    chan struct{} // closed at the end

	hung      connectors.TenantID
	smallOnes map[connectors.ConnectorID]bool
}

// benchDone is the end of a sync, as the syncer tells it.
type benchDone struct {
	connector connectors.ConnectorID
	failed    string
	at        time.Time
}

// benchPatience is how long a round may be without an end of a sync.
const benchPatience = 2 * time.Minute

// start starts what a server has for syncs.
func (b *benching) start(ctx context.Context, kek secret.KEK, log *slog.Logger) (err error) {
	if b.store, err = store.Open(ctx, b.pool, kek); err != nil {
		return err
	}
	if tenants, err := b.store.System().Tenants(ctx); err != nil || len(tenants) > 0 {
		return fault.Errorf(fault.Conflict, "The database is not empty. Name an empty one.")
	}
	if b.Apart {
		b.servers, err = startApart(ctx, b.Tools, b.Era)
	} else {
		b.servers, err = startBenchServers(ctx, b.Tools, b.Era == "modern")
	}
	if err != nil {
		return err
	}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	b.syncer = toolsync.New(toolsync.Options{
		Store: b.store, Credentials: credentials.New(b.store), Egress: egress, Version: version(), Log: log,
		Instance: connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())},
		Finished: func(run connectors.SyncRun) {
			select {
			case b.done <- benchDone{connector: run.ConnectorID, failed: run.ErrorCode, at: time.Now()}:
			case <-b.over:
			}
		},
	})
	if err := b.syncer.Start(ctx); err != nil {
		return err
	}
	b.runner, err = jobs.New(jobs.Options{
		Pool: b.pool, Listens: b.pool, Syncer: b.syncer, Due: b.store.System().DueShards, Turn: b.store.System().TakeClockTurn, Log: log,
	})
	if err != nil {
		return err
	}
	return b.runner.Start(ctx)
}

func (b *benching) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if b.servers != nil {
		b.servers.close()
	}
	close(b.over) // whoever still ends need not wait for a reader
	if b.runner != nil {
		_ = b.runner.Stop(ctx)
	}
	if b.syncer != nil {
		b.syncer.Stop(ctx)
	}
	if b.store != nil {
		b.store.Close()
	}
	b.pool.Close()
}

// fill makes tenants and connectors. None is due.
func (b *benching) fill(ctx context.Context) error {
	b.smallOnes = map[connectors.ConnectorID]bool{}
	number := 0
	for t := range b.Tenants {
		share := b.Connectors / b.Tenants
		if t < b.Connectors%b.Tenants {
			share++
		}
		if _, err := b.fillTenant(ctx, fmt.Sprintf("Tenant %d", t), share, &number, false); err != nil {
			return err
		}
	}
	small, err := b.fillTenant(ctx, "Small", b.Small, &number, false)
	if err != nil {
		return err
	}
	for _, id := range small {
		b.smallOnes[id] = true
	}
	_, err = b.fillTenant(ctx, "Hung", b.Hung, &number, true)
	return err
}

func (b *benching) fillTenant(ctx context.Context, name string, share int, number *int, hangs bool) ([]connectors.ConnectorID, error) {
	if share == 0 {
		return nil, nil
	}
	tenant, err := b.store.System().CreateTenant(ctx, name, "", operatorMade())
	if err != nil {
		return nil, err
	}
	if hangs {
		b.hung = tenant.ID
	}
	var all []connectors.ConnectorID
	err = b.store.Tenant(tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		for range share {
			d := connectors.NewDraft()
			d.Name = fmt.Sprintf("Connector %d", *number)
			d.Slug = fmt.Sprintf("connector-%d", *number)
			d.URL = b.servers.url(*number, hangs)
			d.SyncInterval, d.ToolChanges, d.Listen = 24*time.Hour, connectors.ToolChangesAuto, connectors.ListenOff
			*number++
			c, err := tx.CreateConnector(ctx, d)
			if err != nil {
				return err
			}
			all = append(all, c.ID)
		}
		return nil
	})
	return all, err
}

// due has connectors be due at this moment: those that answer, and those that hang where they do not yet.
func (b *benching) due(ctx context.Context) (time.Time, error) {
	return b.asSystem(ctx, "update connector_clock set due_at = now() where claimed_by is null")
}

// asSystem runs a statement on all tenants' rows, and returns the database's time of it.
func (b *benching) asSystem(ctx context.Context, statement string, args ...any) (at time.Time, err error) {
	tx, err := b.pool.Begin(ctx)
	if err != nil {
		return at, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true)"); err != nil {
		return at, err
	}
	if _, err := tx.Exec(ctx, statement, args...); err != nil {
		return at, err
	}
	return time.Now(), tx.Commit(ctx)
}

// await collects the ends of a round, which has so many.
func (b *benching) await(ctx context.Context, due time.Time, many int) (*benchRound, error) {
	r := &benchRound{}
	for r.count() < many {
		select {
		case d := <-b.done:
			if d.failed != "" {
				return r, fmt.Errorf("a sync failed: %s", d.failed)
			}
			r.add(d.at.Sub(due), b.smallOnes[d.connector])
		case <-time.After(benchPatience):
			return r, fmt.Errorf("%d of %d syncs ended, and then none for %s", r.count(), many, benchPatience)
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
	return r, nil
}
