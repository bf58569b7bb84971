package history

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
	minRecoverPause = time.Second // after a try that left something; it doubles with each
	maxRecoverPause = time.Minute // also after a try that left nothing: a process beside this one may be killed
)

// RunRecovery runs [Writer.Recover] until ctx is done: at once, after a second to a minute where something was left, and each minute. A writer
// whose own journal could not be opened tries that as often.
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

// ensureJournal opens the writer's own journal, unless it is open, or the writer ends.
func (w *Writer) ensureJournal() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil && !closed(w.halt) {
		w.journal, err = openJournal(w.o.Journal, w.o.Instance)
	}
	return err
}

// Recover puts on record what processes that were killed had under way, as their journals in the writer's folder tell. Journals of living
// ones stay, and so do those of which the database did not take all calls. It reports whether there were none of these.
func (w *Writer) Recover(ctx context.Context) (whole bool) {
	if w.o.Journal == "" {
		return true
	}
	entries, err := os.ReadDir(w.o.Journal)
	if err != nil {
		return true // there is none yet
	}
	whole = true
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), journalPrefix) && !w.recover(ctx, filepath.Join(w.o.Journal, e.Name())) {
			whole = false
		}
	}
	return whole
}

// recover puts the calls of one journal on record. It reports whether nothing of it is left to be done.
func (w *Writer) recover(ctx context.Context, path string) bool {
	calls, err := lostCalls(path, w.o.Now())
	if err != nil {
		return true // its process lives
	}
	for batch := range slices.Chunk(calls, maxRows) {
		if err := w.endLost(ctx, batch); err != nil {
			w.o.Log.WarnContext(ctx, "calls of a killed process not put on record yet", slog.Any("error", err))
			return false
		}
	}
	if len(calls) > 0 {
		w.o.Log.InfoContext(ctx, "calls of a killed process put on record", slog.Int("calls", len(calls)))
	}
	if err := os.Remove(path); err != nil {
		w.o.Log.WarnContext(ctx, "journal of a killed process not removed", slog.Any("error", err))
	}
	return true
}

// endLost writes calls that are lost; those that are on record already stay as they are. A batch that the database does not take as it is is
// halved, and a call that it does not take is left out. The error says that calls have to be written later.
func (w *Writer) endLost(ctx context.Context, calls []store.OwnedCall) error {
	err := w.endLostOnce(ctx, calls)
	if err == nil || mayPass(ctx, err) {
		return err
	}
	if half := len(calls) / 2; half > 0 {
		return errors.Join(w.endLost(ctx, calls[:half]), w.endLost(ctx, calls[half:]))
	}
	if err = w.endLostOnce(ctx, calls); err == nil || mayPass(ctx, err) { // an agent that was deleted at that moment makes a statement fail once
		return err
	}
	w.o.Log.ErrorContext(ctx, "call of a killed process not written to the history", slog.String("tenant_id", calls[0].Tenant.String()),
		slog.String("tool_call_id", calls[0].ID.String()), slog.Any("error", err))
	return nil
}

func (w *Writer) endLostOnce(ctx context.Context, calls []store.OwnedCall) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return w.o.Store.System().EndCalls(ctx, calls)
}

// mayPass reports whether the database may take later what it did not take with err.
func mayPass(ctx context.Context, err error) bool {
	return isHeld(err) || store.Passing(err) || ctx.Err() != nil
}
