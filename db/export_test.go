package db

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"time"
)

// LockPatience is the patience of [Migrate].
const LockPatience = lockPatience

// MigrateFiles is [Migrate] with other migrations and another patience.
func MigrateFiles(ctx context.Context, url string, migrations fs.FS, patience time.Duration, log *slog.Logger) error {
	return migrator{files: migrations, patience: patience, log: log}.migrate(ctx, url)
}

// Replaced are the migrations that the baseline replaces.
var Replaced = replaced

// TakingTurns does something again for as long as it gives way.
var TakingTurns = takingTurns

// LearnTypes is what the pool calls with each new connection.
var LearnTypes = learnTypes

// Dialer connects to databases.
var Dialer = dialer

// CheckNumbers fails unless the numbers are the baseline's and numbers that were not used before it.
func CheckNumbers(all []int64) error {
	if len(all) == 0 || all[0] != baselineVersion {
		return fmt.Errorf("the migrations %v do not begin with the baseline, %d", all, baselineVersion)
	}
	for i, n := range all[1:] {
		if n <= lastReplaced || n == all[i] {
			return fmt.Errorf("migration %d: the number was used, the next one is %d", n, max(lastReplaced, all[i])+1)
		}
	}
	return nil
}
