package jobs

import (
	"context"
	"log/slog"
)

// infoHandler drops River's records below info: at debug level it logs every poll of every queue.
type infoHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h infoHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h infoHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return infoHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h infoHandler) WithGroup(name string) slog.Handler {
	return infoHandler{h.Handler.WithGroup(name)}
}
