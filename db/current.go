package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Current reads the version of the schema that the database has and the one that this program wants. They differ
// while another version of the program is being rolled out: applied > wanted is no reason to stop serving, since
// migrations are safe while the old program still runs. The error is a fault if the database does not answer, lacks
// the job queue's migrations, or has migrations that the baseline replaces.
func Current(ctx context.Context, q Querier) (applied, wanted int64, err error) {
	v, err := readVersions(ctx, q, Versions())
	switch {
	case hasCode(err, "42P01"): // no such table
		return 0, Version(), nil
	case err != nil:
		return 0, Version(), fault.Wrap(fault.Unavailable, err, "The database isn't responding.")
	case len(v.replaced) > 0:
		return v.schema, Version(), v.baselineFault()
	case v.jobs < jobsVersion():
		return v.schema, Version(), fault.Errorf(fault.Unavailable, "The job queue's tables are older than this program. Run `patchbay migrate`.")
	}
	return v.schema, Version(), nil
}

// Missing are the migrations of this program that a database lacks, oldest first. One that has later ones can lack an earlier one where it was
// brought up to date by a program between two releases.
func Missing(ctx context.Context, q Querier) ([]int64, error) {
	v, err := readVersions(ctx, q, Versions())
	switch {
	case hasCode(err, "42P01"): // no such table
		return Versions(), nil
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "The database isn't responding.")
	}
	return v.missing, nil
}

// migrationsLeft counts the migrations that a database lacks, the job queue's too.
func migrationsLeft(ctx context.Context, q Querier, wanted []int64) int {
	v, err := readVersions(ctx, q, wanted)
	if err != nil { // as where there are no tables yet
		return len(wanted) + int(jobsVersion())
	}
	return len(v.missing) + int(jobsVersion()-v.jobs)
}

type versions struct {
	database     string
	schema, jobs int64
	granted      bool
	missing      []int64
	replaced     []int64 // migrations after the first that the baseline replaces
}

func readVersions(ctx context.Context, q Querier, wanted []int64) (versions, error) {
	var v versions
	err := q.QueryRow(ctx, `
		select current_database(),
		       coalesce((select max(version_id) from goose_db_version where is_applied), 0),
		       coalesce((select max(version) from river_migration where line = 'main'), 0),
		       has_table_privilege($1, 'river_job', 'insert') and has_table_privilege($1, 'tenants', 'select'),
		       array(select n from unnest($2::bigint[]) as n
		             where not exists (select from goose_db_version g where g.version_id = n and g.is_applied) order by n),
		       array(select distinct version_id from goose_db_version where is_applied and version_id > $3 and version_id <= $4 order by 1)`,
		AppRole, wanted, baselineVersion, lastReplaced,
	).Scan(&v.database, &v.schema, &v.jobs, &v.granted, &v.missing, &v.replaced)
	return v, err
}

// isMigrated reports whether nothing is left to do, and fails if the database is newer than this program. It looks as
// the runtime role, since a login role may own nothing at all.
func isMigrated(ctx context.Context, conn *pgx.Conn, s session, wanted []int64) (bool, error) {
	if !s.appExists || !s.mayBecomeApp {
		return false, nil
	}
	v, err := versionsAsApp(ctx, conn, wanted)
	if err != nil {
		// No tables yet, or rights not given yet: there is work to do.
		if hasCode(err, "42P01", "42501") {
			return false, nil
		}
		return false, fmt.Errorf("read the schema's version: %w", err)
	}
	if len(v.replaced) > 0 {
		return false, checkReplaced(s.database, v.replaced)
	}
	if newest := slices.Max(wanted); v.schema > newest {
		return false, fault.Errorf(fault.Unavailable,
			"The database %q has schema version %d, but this program supports %d: start the newer Patchbay, or restore a backup from before its upgrade.",
			s.database, v.schema, newest)
	}
	return len(v.missing) == 0 && v.jobs >= jobsVersion() && v.granted, nil
}

func versionsAsApp(ctx context.Context, conn *pgx.Conn, wanted []int64) (versions, error) {
	if _, err := conn.Exec(ctx, "set role "+AppRole); err != nil {
		return versions{}, err
	}
	v, err := readVersions(ctx, conn, wanted)
	if _, resetErr := conn.Exec(ctx, "reset role"); resetErr != nil {
		return v, errors.Join(err, resetErr)
	}
	return v, err
}
