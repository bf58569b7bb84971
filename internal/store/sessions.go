package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/safe"
	"patchbay/internal/store/dbgen"
)

// sweepInterval is the interval of deleting expired sessions.
const sweepInterval = 5 * time.Minute

// Sessions implements scs.CtxStore. The pgxstore of scs takes no contexts, so a hanging database would hang
// every request, and its sweeper cannot be stopped safely.
type Sessions struct {
	q    *dbgen.Queries
	stop context.CancelFunc
	done sync.WaitGroup
}

func newSessions(pool *pgxpool.Pool) *Sessions {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sessions{q: dbgen.New(systemScope(pool)), stop: stop}
	safe.GoIn(&s.done, safe.Background, func() { safe.RunLoop(ctx, "browser sessions", s.sweepLoop) })
	return s
}

func (s *Sessions) close() {
	s.stop()
	s.done.Wait()
}

func (s *Sessions) sweepLoop(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.q.DeleteExpiredSessions(ctx) // the next sweep retries: expired sessions are not found anyway
			_ = s.q.DeleteOldBrowserSessions(ctx)
		}
	}
}

// FindCtx returns a session's data; expired ones are not found.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, ok bool, err error) {
	data, err = s.q.SessionData(ctx, token)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx stores a session.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return s.q.SaveSession(ctx, token, data, expiry)
}

// DeleteCtx deletes a session. A missing one is no error.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return s.q.DeleteSession(ctx, token)
}

// Find is FindCtx with the background context.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx with the background context.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx with the background context.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }
