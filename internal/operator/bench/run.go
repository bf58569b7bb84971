package bench

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// benchmark is one run of the benchmark.
type benchmark struct {
	Options
	Program
	pool     *pgxpool.Pool
	store    *store.Store
	servers  *upstreams
	syncer   *toolsync.Syncer
	stopJobs func(context.Context) error // nil: not started
	queries  queryCounter
	done     chan finishedSync
	closing  chan struct{} // closed at the end

	hung            connectors.TenantID
	smallConnectors map[connectors.ConnectorID]bool
}

// finishedSync is a finished sync, as reported by the syncer.
type finishedSync struct {
	connector  connectors.ConnectorID
	errorText  string
	finishedAt time.Time
}

// roundTimeout bounds the wait for the next finished sync of a round.
const roundTimeout = 2 * time.Minute

// startServices starts a server's services for syncs.
func (b *benchmark) startServices(ctx context.Context, kek secret.KEK, log *slog.Logger) (err error) {
	if b.store, err = store.Open(ctx, b.pool, kek); err != nil {
		return err
	}
	if tenants, err := b.store.System().Tenants(ctx); err != nil || len(tenants) > 0 {
		return fault.Errorf(fault.Conflict, "The database is not empty. Name an empty one.")
	}
	if b.Apart {
		b.servers, err = startProcess(ctx, b.Tools, b.Era)
	} else {
		b.servers, err = startUpstreams(ctx, b.Tools, b.Era == "modern")
	}
	if err != nil {
		return err
	}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	b.syncer = toolsync.New(toolsync.Options{
		Store: b.store, Credentials: credentials.New(b.store), Egress: egress, Version: b.Version, Log: log,
		Instance: connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())},
		Finished: func(run connectors.SyncRun) {
			select {
			case b.done <- finishedSync{connector: run.ConnectorID, errorText: run.ErrorCode, finishedAt: time.Now()}:
			case <-b.closing:
			}
		},
	})
	if err := b.syncer.Start(ctx); err != nil {
		return err
	}
	b.stopJobs, err = b.StartJobs(ctx, JobOptions{Pool: b.pool, Store: b.store, Syncer: b.syncer, Log: log})
	return err
}

func (b *benchmark) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if b.servers != nil {
		b.servers.close()
	}
	close(b.closing) // late syncs do not wait for a reader
	if b.stopJobs != nil {
		_ = b.stopJobs(ctx)
	}
	if b.syncer != nil {
		b.syncer.Stop(ctx)
	}
	if b.store != nil {
		b.store.Close()
	}
	b.pool.Close()
}

// createTenants creates tenants and connectors. None is due.
func (b *benchmark) createTenants(ctx context.Context) error {
	b.smallConnectors = map[connectors.ConnectorID]bool{}
	number := 0
	for t := range b.Tenants {
		share := b.Connectors / b.Tenants
		if t < b.Connectors%b.Tenants {
			share++
		}
		if _, err := b.createTenant(ctx, fmt.Sprintf("Tenant %d", t), share, &number, false); err != nil {
			return err
		}
	}
	small, err := b.createTenant(ctx, "Small", b.Small, &number, false)
	if err != nil {
		return err
	}
	for _, id := range small {
		b.smallConnectors[id] = true
	}
	_, err = b.createTenant(ctx, "Hung", b.Hung, &number, true)
	return err
}

func (b *benchmark) createTenant(ctx context.Context, name string, share int, number *int, hangs bool) ([]connectors.ConnectorID, error) {
	if share == 0 {
		return nil, nil
	}
	tenant, err := b.store.System().CreateTenant(ctx, name, "", new(auth.Operator(connectors.Tenant{}).Event("tenant.create", "")))
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
			d.URL = b.servers.connectorURL(*number, hangs)
			d.SyncInterval, d.ToolChanges, d.Listen = 24*time.Hour, connectors.ToolChangesAuto, connectors.ListenOff
			*number++
			c, err := tx.Connectors().Create(ctx, d)
			if err != nil {
				return err
			}
			all = append(all, c.ID)
		}
		return nil
	})
	return all, err
}

// makeDue makes connectors due now: those that respond, and those that hang and are not running yet.
func (b *benchmark) makeDue(ctx context.Context) (time.Time, error) {
	return b.execAsSystem(ctx, "update connector_clock set due_at = now() where claimed_by is null")
}

// execAsSystem runs a statement on all tenants' rows, and returns the database's time.
func (b *benchmark) execAsSystem(ctx context.Context, statement string, args ...any) (at time.Time, err error) {
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

// awaitRound collects the finished syncs of a round of many connectors.
func (b *benchmark) awaitRound(ctx context.Context, due time.Time, many int) (*round, error) {
	r := &round{}
	for r.syncCount() < many {
		select {
		case d := <-b.done:
			if d.errorText != "" {
				return r, fmt.Errorf("a sync failed: %s", d.errorText)
			}
			r.addSync(d.finishedAt.Sub(due), b.smallConnectors[d.connector])
		case <-time.After(roundTimeout):
			return r, fmt.Errorf("%d of %d syncs ended, and then none for %s", r.syncCount(), many, roundTimeout)
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
	return r, nil
}
