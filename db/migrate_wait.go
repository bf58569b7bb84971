package db

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

const (
	// lockTurn is how long a migration waits for a table's lock before it lets those go on who wait behind it: PostgreSQL's queue for a lock is
	// one, and whoever only wants to read stands behind whoever wants to change the table.
	lockTurn = 2 * time.Second
	// lockPause is how long they then have.
	lockPause = time.Second
	// lockPatience is how long a migration tries that waits for a table.
	lockPatience = 3 * time.Minute
)

// boundLocks has a session's statements wait no longer than a turn for a lock. The pool calls it in goroutines of its own.
func boundLocks(ctx context.Context, conn *pgx.Conn) (err error) {
	defer safe.RecoverTo(safe.Database, &err)
	return waitForLocks(ctx, conn, lockTurn)
}

// waitForLocks says how long a session's statements wait for a lock; 0: for as long as it takes.
func waitForLocks(ctx context.Context, conn *pgx.Conn, most time.Duration) error {
	_, err := conn.Exec(ctx, "select set_config('lock_timeout', $1, false)", fmt.Sprintf("%dms", most.Milliseconds()))
	return err
}

// takingTurns does something again for as long as it gives way to others who use the tables. Each migration is a transaction, or may be begun
// again: what is done is not done twice, and what had to wait has changed nothing. Patience begins where it first gives way, and anew where fewer
// are left than before: the migrations that go through may take as long as they do.
func takingTurns(ctx context.Context, patience time.Duration, log *slog.Logger, left func() int, do func() error) error {
	var until time.Time
	last := -1
	for {
		err := do()
		if !hasCode(err, "55P03", "40P01") { // lock_not_available, deadlock_detected
			return err
		}
		switch now := left(); {
		case last < 0 || now < last:
			last, until = now, time.Now().Add(patience)
		case !time.Now().Before(until):
			return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The database cannot be migrated now: another transaction has locked a table for %s. "+
				"Nothing is half done, and servers keep running. Find long transactions in pg_stat_activity, such as a dump or an idle session, then rerun this.", patience))
		}
		log.InfoContext(ctx, "migration releases its lock and retries", slog.Any("error", err))
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
