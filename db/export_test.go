package db

import (
	"context"
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

// CheckNumbers fails for migrations that are not the baseline and what follows it.
var CheckNumbers = checkNumbers

// TakingTurns does something again for as long as it gives way.
var TakingTurns = takingTurns

// LearnTypes is what the pool calls with each new connection.
var LearnTypes = learnTypes

// Dialer connects to databases.
var Dialer = dialer
