package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// maxRowsCounted bounds the count of a table's rows.
const maxRowsCounted = 1_000_000

// Table is the size of a table.
type Table struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"` // up to a million
	Bytes int64  `json:"bytes"`
}

// Tables returns the size of each table over all tenants.
func (s *System) Tables(ctx context.Context) ([]Table, error) {
	rows, err := s.scope.Query(ctx, `
		select relname::text, 0::bigint, pg_total_relation_size(oid)
		from pg_class
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and has_table_privilege(oid, 'select')
		order by relname`)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Table])
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		count := fmt.Sprintf("select count(*) from (select from %s limit %d) counted", pgx.Identifier{t.Name}.Sanitize(), maxRowsCounted)
		if err := s.scope.QueryRow(ctx, count).Scan(&tables[i].Rows); err != nil {
			return nil, fmt.Errorf("count the rows of %s: %w", t.Name, err)
		}
	}
	return tables, nil
}
