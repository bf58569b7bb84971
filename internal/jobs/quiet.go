package jobs

import (
	"context"
	"log/slog"
)

// quiet passes on what River says from info upwards. At debug level it tells of every poll of every queue, which would bury
// what Patchbay has to say.
type quiet struct{ slog.Handler }

// Enabled tells whether a record of the level is wanted.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && q.Handler.Enabled(ctx, level)
}

// WithAttrs stays quiet.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup stays quiet.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
