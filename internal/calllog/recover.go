package calllog

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"patchbay/internal/store"
)

const (
	minRecoverPause = time.Second // after an incomplete attempt; doubles each time
	maxRecoverPause = time.Minute // after a complete one too, for another process may be killed
)

// RunRecovery runs [Writer.Recover] until ctx is done: at once, then after a second to a minute. It also
// retries opening the writer's own journal.
func (w *Writer) RunRecovery(ctx context.Context) {
	for next := minRecoverPause; ; {
		pause := next
		if err := w.ensureJournal(); w.Recover(ctx) && (err == nil || errors.Is(err, errors.ErrUnsupported)) {
			pause, next = maxRecoverPause, minRecoverPause
		} else {
			next = min(2*next, maxRecoverPause)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// ensureJournal opens the writer's own journal if it is closed and the writer is not stopping.
func (w *Writer) ensureJournal() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil && !isClosed(w.stopping) {
		w.journal, err = openJournal(w.o.Journal, w.o.Instance)
	}
	return err
}

// Recover stores the calls of killed processes from their journals. It leaves journals of live processes, and
// those with calls that could not be stored. complete reports that there were none of the latter.
func (w *Writer) Recover(ctx context.Context) (complete bool) {
	if w.o.Journal == "" {
		return true
	}
	entries, err := os.ReadDir(w.o.Journal)
	if err != nil {
		return true // no journal yet
	}
	complete = true
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), journalPrefix) && !w.recoverJournal(ctx, filepath.Join(w.o.Journal, e.Name())) {
			complete = false
		}
	}
	return complete
}

// recoverJournal stores the calls of one journal and reports whether nothing remains to be done.
func (w *Writer) recoverJournal(ctx context.Context, path string) bool {
	calls, err := readLostCalls(path, w.o.Now())
	if err != nil {
		return true // its process is alive
	}
	for batch := range slices.Chunk(calls, maxRows) {
		if err := w.endLost(ctx, batch); err != nil {
			w.o.Log.WarnContext(ctx, "calls of a killed process not recorded yet", slog.Any("error", err))
			return false
		}
	}
	if len(calls) > 0 {
		w.o.Log.InfoContext(ctx, "calls of a killed process recorded", slog.Int("calls", len(calls)))
	}
	if err := os.Remove(path); err != nil {
		w.o.Log.WarnContext(ctx, "journal of a killed process not removed", slog.Any("error", err))
	}
	return true
}

// endLost stores lost calls; calls with a stored end stay. A batch that fails is halved, and a call that fails
// alone is dropped. An error means that calls have to be retried.
func (w *Writer) endLost(ctx context.Context, calls []store.OwnedCall) error {
	err := w.endLostOnce(ctx, calls)
	if err == nil || isTemporary(ctx, err) {
		return err
	}
	if half := len(calls) / 2; half > 0 {
		return errors.Join(w.endLost(ctx, calls[:half]), w.endLost(ctx, calls[half:]))
	}
	if err = w.endLostOnce(ctx, calls); err == nil || isTemporary(ctx, err) { // deleting an agent fails a statement once
		return err
	}
	w.o.Log.ErrorContext(ctx, "call of a killed process not written to the history", slog.String("tenant_id", calls[0].Tenant.String()),
		slog.String("tool_call_id", calls[0].ID.String()), slog.Any("error", err))
	return nil
}

func (w *Writer) endLostOnce(ctx context.Context, calls []store.OwnedCall) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return w.o.Store.System().Calls().EndCalls(ctx, calls)
}

// isTemporary reports whether a retry may succeed.
func isTemporary(ctx context.Context, err error) bool {
	return isLocked(err) || store.IsTransient(err) || ctx.Err() != nil
}
