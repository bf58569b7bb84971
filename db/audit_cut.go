package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// MinAuditDays is the minimum retention of the audit log: a year, for a yearly review.
const MinAuditDays = 365

// cutTries is how often a part is tried to be dropped, for a second each: whoever waits longer for the log keeps all others waiting.
const cutTries = 60

// CutAudit removes whole months of the audit log, and of what is on record of how calls ended, that ended before a time, and of each tenant the links of the entries that go: those up to the
// place that is named, of which the tenant's log has a signed word (store.Tenant.CutAudit). What is in such a month and comes after that place in
// its chain stays. It takes the rights of the tables' owner: a server has none to remove an entry. It says which parts are gone.
func CutAudit(ctx context.Context, url string, before time.Time, places map[uuid.UUID]int64) ([]string, error) {
	if before.After(time.Now().AddDate(0, 0, -MinAuditDays)) {
		return nil, fmt.Errorf("cut the audit log: %d days of it stay", MinAuditDays)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var gone []string
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true), set_config('statement_timeout', '0', true), audit_make_months()"); err != nil {
			return fmt.Errorf("make the coming months of the audit log: %w", err)
		}
		if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		gone, err = cutParts(ctx, tx, before, places)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cut the audit log: %w", err)
	}
	return gone, nil
}

func cutParts(ctx context.Context, tx pgx.Tx, before time.Time, places map[uuid.UUID]int64) ([]string, error) {
	var end *time.Time
	var parts []string
	err := tx.QueryRow(ctx, "select max(ends), coalesce(array_agg(name order by ends), '{}') from audit_months where ends <= $1", before).Scan(&end, &parts)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	for tenant, place := range places {
		// What is old by the database's clock may be of a later month by that of whoever made its id, or of none.
		if _, err := tx.Exec(ctx, `
			delete from audit_events e using audit_chain c
			where c.tenant_id = $1 and c.n <= $2 and e.tenant_id = $1 and e.id = c.event_id
			  and (e.id >= audit_id_at($3) or e.tableoid = 'audit_events_default'::regclass)`, tenant, place, *end); err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, "delete from audit_chain where tenant_id = $1 and n <= $2", tenant, place); err != nil {
			return nil, err
		}
	}
	if _, err := tx.Exec(ctx, "delete from call_outcomes_default where at < $1", *end); err != nil {
		return nil, err
	}
	return parts, dropParts(ctx, tx, parts)
}

// dropParts drops parts, the locks last, and keeps what of them the chains still name, without linking it once more.
func dropParts(ctx context.Context, tx pgx.Tx, parts []string) error {
	if _, err := tx.Exec(ctx, "create temporary table audit_stays (like audit_events) on commit drop"); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := tx.Exec(ctx, "insert into audit_stays select * from "+quote(part)+` e
			where exists (select from audit_chain c where c.tenant_id = e.tenant_id and c.event_id = e.id)`); err != nil {
			return err
		}
	}
	if err := lockLog(ctx, tx); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := tx.Exec(ctx, "drop table "+quote(part)+", "+quote(strings.Replace(part, "audit_events", "call_outcomes", 1))); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		"alter table audit_events_default disable trigger audit_chained",
		"insert into audit_events_default select * from audit_stays",
		"alter table audit_events_default enable trigger audit_chained",
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "delete from audit_months where name = any($1)", parts)
	return err
}

// lockLog locks the log for itself, with pauses in which others go on.
func lockLog(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "select set_config('lock_timeout', '1s', true)"); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // a savepoint
			_, err := tx.Exec(ctx, "lock table audit_events, call_outcomes in access exclusive mode")
			return err
		})
		if err == nil || !hasCode(err, "55P03") || try == cutTries {
			return err
		}
		if _, err := tx.Exec(ctx, "select pg_sleep(0.5)"); err != nil {
			return err
		}
	}
}
