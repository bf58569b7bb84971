package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// grantsVersion grows when grantRights changes what it grants.
const grantsVersion = 1

// grantRights gives the runtime role what the migrations do not: the job queue's tables are made by the queue's own
// migrations, and the version tables are read by [Current].
func grantRights(ctx context.Context, conn *pgx.Conn, schema string) error {
	rows, err := conn.Query(ctx, `
		select case
		         when relkind = 'S' then format('grant usage, select on sequence %I.%I to patchbay_app', $1::text, relname)
		         when relname in ('river_migration', 'goose_db_version') then format('grant select on %I.%I to patchbay_app', $1::text, relname)
		         else format('grant select, insert, update, delete on %I.%I to patchbay_app', $1::text, relname)
		       end
		from pg_class
		where relnamespace = format('%I', $1::text)::regnamespace and relkind in ('r', 'p', 'S')
		  and (relname like 'river\_%' or relname = 'goose_db_version')
		union all
		select format('grant execute on function %s to patchbay_app', oid::regprocedure)
		from pg_proc
		where pronamespace = format('%I', $1::text)::regnamespace and prokind = 'f'
		  and (proname in ('tenant', 'system_scope') or proname like 'river\_%')`, schema)
	if err != nil {
		return fmt.Errorf("list what the runtime role needs: %w", err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list what the runtime role needs: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue("grant usage on schema " + quote(schema) + " to " + AppRole)
	for _, statement := range statements {
		batch.Queue(statement)
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("grant rights to %s: %w", AppRole, err)
	}
	return nil
}
