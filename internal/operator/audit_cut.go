package operator

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/db"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
)

type auditTruncateCommand struct {
	databaseCommand
	KeepDays int `required:"" placeholder:"N" help:"Days to keep, at least 365. Only whole months are removed."`
}

func (auditTruncateCommand) Help() string {
	return "Removes months of the audit logs and call outcome records older than --keep-days, for all tenants. Each log is verified first, and a signed entry records the removal, " +
		"from which later verification starts. Records that an audit stream has not sent are listed, and its receiver gets their positions. Requires a role that owns the tables, as migrate does; servers can keep running. Export entries to keep first."
}

// Run cuts the logs, and prints a line for each tenant whose log was cut.
func (c auditTruncateCommand) Run(ctx context.Context, p IO) error {
	if c.KeepDays < db.MinAuditDays {
		return fault.Errorf(fault.Invalid, "Keep at least %d days: use --keep-days=%d or more.", db.MinAuditDays, db.MinAuditDays)
	}
	settings, err := c.DatabaseFlags.Check()
	if err != nil {
		return err
	}
	keys, err := installation.NewKeySource(settings, p.Version)
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(p.Stderr, slog.LevelWarn, telemetry.Text)
	route, stop, err := installation.Attach(ctx, settings, log)
	if err != nil {
		return err
	}
	defer stop()
	d, err := installation.Open(ctx, installation.Options{Route: route, Keys: keys, Log: log})
	if err != nil {
		return err
	}
	defer d.Close()
	if route, err = route.Find(ctx); err != nil {
		return err
	}
	session, ok := route.Session()
	if !ok {
		return fault.Errorf(fault.Invalid, "DATABASE_URL points to a pooler, but this command needs a direct connection. Set PATCHBAY_DATABASE_DIRECT_URL.")
	}
	return c.truncateLog(ctx, p, d, session)
}

func (c auditTruncateCommand) truncateLog(ctx context.Context, p IO, d *installation.Database, session string) error {
	kept := time.Now().UTC().AddDate(0, 0, -c.KeepDays)
	before, err := d.Store.System().AuditMonthsEnd(ctx, kept)
	if err != nil {
		return err
	}
	if before.IsZero() {
		p.printLine("No month of the audit log ended before %s. Nothing removed.", kept.Format(time.DateOnly))
		return nil
	}
	tenants, err := d.Store.System().Tenants(ctx)
	if err != nil {
		return err
	}
	if err := verifyChains(ctx, d.Store, tenants); err != nil {
		return err
	}
	places := map[uuid.UUID]int64{}
	for _, tenant := range tenants {
		place, err := d.Store.Tenant(tenant.ID).Audit().Cut(ctx, before, auth.Operator(tenant).Event("audit.cut", tenant.Slug))
		if err != nil {
			return fmt.Errorf("cut the audit log of %s: %w", tenant.Slug, err)
		}
		places[tenant.ID.UUID] = place
	}
	gone, err := db.CutAudit(ctx, session, before, places)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The audit log is unchanged. Retry with a role that owns the tables.")
	}
	for _, tenant := range tenants {
		if place := places[tenant.ID.UUID]; place > 0 {
			p.printLine("%s: removed the entries up to %d", tenant.Slug, place)
		}
	}
	p.printLine("Removed: %s", strings.Join(gone, ", "))
	return printUnsent(ctx, p, d.Store, tenants)
}

// printUnsent prints what was removed before audit streams sent it. Their receivers get an event with the same positions.
func printUnsent(ctx context.Context, p IO, st *store.Store, tenants []connectors.Tenant) error {
	for _, tenant := range tenants {
		part := st.Tenant(tenant.ID).AuditStreams()
		streams, err := part.List(ctx)
		if err != nil {
			return fmt.Errorf("read the audit streams of %s: %w", tenant.Slug, err)
		}
		for _, stream := range streams {
			records, err := part.Pending(ctx, stream.Cursor)
			if err != nil {
				return fmt.Errorf("read what audit stream %s of %s has not sent: %w", stream.ID, tenant.Slug, err)
			}
			for _, r := range records {
				if r.Gap != nil {
					p.printLine("%s: audit stream %q had not sent records %d to %d of %s", tenant.Slug, stream.Name, r.Gap.From, r.Gap.To, r.Chain)
				}
			}
		}
	}
	return nil
}

// verifyChains fails if a tenant's log was changed: a month holds the entries of all tenants, and the cut would
// remove the evidence.
func verifyChains(ctx context.Context, st *store.Store, tenants []connectors.Tenant) error {
	for _, tenant := range tenants {
		check, err := st.Tenant(tenant.ID).Audit().Check(ctx)
		if err != nil {
			return fmt.Errorf("verify the audit log of %s: %w", tenant.Slug, err)
		}
		if check.Bad != nil {
			return fault.Errorf(fault.Conflict, "The audit log of %s was altered from entry %d on: %s Nothing was removed.", tenant.Slug, check.Bad.N, check.Bad.Reason)
		}
		calls, err := st.Tenant(tenant.ID).Audit().CheckOutcomes(ctx, nil, time.Time{})
		if err != nil {
			return fmt.Errorf("verify the calls of %s: %w", tenant.Slug, err)
		}
		if calls.Bad != nil {
			return fault.Errorf(fault.Conflict, "The calls of %s differ from the record from batch %d on: %s Nothing was removed.", tenant.Slug, calls.Bad.N, calls.Bad.Reason)
		}
	}
	return nil
}
