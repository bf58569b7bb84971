package history

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// Recover puts on record what processes that were killed had under way, as their journals in the writer's folder tell. Journals of living
// ones stay.
func (w *Writer) Recover(ctx context.Context) {
	if w.o.Journal == "" {
		return
	}
	entries, err := os.ReadDir(w.o.Journal)
	if err != nil {
		return // there is none yet
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), journalPrefix) {
			w.recover(ctx, filepath.Join(w.o.Journal, e.Name()))
		}
	}
}

func (w *Writer) recover(ctx context.Context, path string) {
	calls, err := lostCalls(path, w.o.Now())
	if err != nil {
		return // its process lives
	}
	if len(calls) > 0 {
		if err := w.o.Store.System().EndCalls(ctx, calls); err != nil {
			w.o.Log.WarnContext(ctx, "calls of a killed process not put on record", slog.Any("error", err))
			return // the next start tries again
		}
		w.o.Log.InfoContext(ctx, "calls of a killed process put on record", slog.Int("calls", len(calls)))
	}
	if err := os.Remove(path); err != nil {
		w.o.Log.WarnContext(ctx, "journal of a killed process not removed", slog.Any("error", err))
	}
}
