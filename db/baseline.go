package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// The baseline has the number of the first migration that it replaces. Numbers up to lastReplaced are not used again,
// so that goose_db_version tells both lineages apart.
const (
	baselineVersion int64 = 1
	lastReplaced    int64 = 89
	// lastBuild is a revision whose newest migration is lastReplaced.
	lastBuild = "271a87bb"
)

// replaced are the numbers of the migrations of builds before the baseline, which makes the same schema.
var replaced = []int64{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 27, 29, 30, 31, 32, 36, 39, 42, 45, 46, 47,
	48, 49, 50, 51, 53, 57, 58, 60, 62, 63, 64, 65, 67, 69, 74, 75, 76, 81, 82, 83, 84, 85, 86, 87, 88, 89,
}

// checkReplaced fails unless a database has all migrations that the baseline replaces. applied are those that it has.
func checkReplaced(database string, applied []int64) error {
	var missing []int64
	for _, n := range replaced {
		if n != baselineVersion && !slices.Contains(applied, n) {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 && len(applied) == len(replaced)-1 {
		return nil
	}
	newest := baselineVersion
	if len(applied) > 0 {
		newest = slices.Max(applied)
	}
	gap := ""
	if newest == lastReplaced && len(missing) > 0 {
		gap = " without " + strings.Trim(fmt.Sprint(missing), "[]")
	}
	return fault.Errorf(fault.Unavailable,
		"The database %q has version %d%s of the schema from before the baseline, and this program only upgrades from version %d: "+
			"run `patchbay migrate` of a build with version %d (revision %s) first, or start with an empty database.",
		database, newest, gap, lastReplaced, lastReplaced, lastBuild)
}

// baselineFault describes a database that this program could take over, and has not.
func (v versions) baselineFault() error {
	if err := checkReplaced(v.database, v.replaced); err != nil {
		return err
	}
	return fault.Errorf(fault.Unavailable,
		"The database has version %d of the schema from before the baseline, which is the same schema: run `patchbay migrate` with the database's direct URL.", lastReplaced)
}

// stampBaseline replaces the versions of a database from before the baseline by the baseline's. It fails if the
// database has only some of them, and changes nothing then.
func (m migrator) stampBaseline(ctx context.Context, conn *pgx.Conn, database string) error {
	before, applied, err := readReplaced(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if !before {
		return nil
	}
	if err := checkReplaced(database, applied); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `delete from goose_db_version where version_id > $1 and version_id <= $2`, baselineVersion, lastReplaced); err != nil {
		return fmt.Errorf("stamp the database with the baseline: %w", err)
	}
	m.log.InfoContext(ctx, "database stamped with the baseline, schema and data unchanged", "database", database, "was", lastReplaced, "version", baselineVersion)
	return nil
}

// readReplaced reports whether a database is from before the baseline, and which versions after the first it has. A
// database with the first version only is from before the baseline if it lacks tables of later versions.
func readReplaced(ctx context.Context, conn *pgx.Conn) (before bool, applied []int64, err error) {
	var migrated, whole, first bool
	err = conn.QueryRow(ctx, `select to_regclass('goose_db_version') is not null, to_regclass('user_passwords') is not null`).Scan(&migrated, &whole)
	if err != nil || !migrated {
		return false, nil, err
	}
	err = conn.QueryRow(ctx, `
		select coalesce(bool_or(version_id = $1), false), coalesce(array_agg(distinct version_id) filter (where version_id > $1), '{}')
		from goose_db_version
		where is_applied and version_id between $1 and $2`, baselineVersion, lastReplaced).Scan(&first, &applied)
	return len(applied) > 0 || first && !whole, applied, err
}
