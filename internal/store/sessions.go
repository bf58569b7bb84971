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

// sweepEvery is how often expired sessions are deleted.
const sweepEvery = 5 * time.Minute

// Sessions keeps the browsers' sessions for scs (it is an scs.CtxStore). scs's own pgxstore has no contexts, so that a database
// that hangs would hang every request, and its sweeper cannot be stopped safely.
type Sessions struct {
	q    *dbgen.Queries
	stop context.CancelFunc
	done sync.WaitGroup
}

func newSessions(pool *pgxpool.Pool) *Sessions {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sessions{q: dbgen.New(systemScope(pool)), stop: stop}
	safe.GoIn(&s.done, safe.Background, func() { safe.RunLoop(ctx, "browser sessions", s.sweep) })
	return s
}

func (s *Sessions) close() {
	s.stop()
	s.done.Wait()
}

func (s *Sessions) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.q.DeleteExpiredSessions(ctx) // the next one will: expired sessions are not found anyway
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

// DeleteCtx removes a session. One that is gone is no error.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return s.q.DeleteSession(ctx, token)
}

// Find is FindCtx without a caller's context.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a caller's context.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a caller's context.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }
