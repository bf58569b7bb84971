package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errNested is a bug of ours: a nested transaction would commit or roll back with its outer one.
var errNested = errors.New("store: a transaction is open already")

// ErrCommitUnknown means that a transaction may have been committed: the response to commit was lost.
var ErrCommitUnknown = errors.New("store: unknown whether the transaction was committed")

// rollbackTimeout bounds a rollback after the caller's context ended.
const rollbackTimeout = 5 * time.Second

// inTx runs fn in a transaction and commits when it returns nil.
func (s scope) inTx(ctx context.Context, fn func(s scope) error) error {
	if s.tx != nil {
		return errNested
	}
	tx, err := s.beginTx(ctx, beginStatement)
	if err != nil {
		return err
	}
	defer tx.rollbackTx(ctx) // after a commit this does nothing
	if err := fn(tx); err != nil {
		return err
	}
	err = tx.tx.Commit(ctx)
	if isCommitUnknown(err) {
		err = fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
	return classifyError(err)
}

// inSnapshot runs fn in a read-only repeatable read transaction, or in the current transaction. Read-only
// transactions have no serialization failures to retry.
func (s scope) inSnapshot(ctx context.Context, fn func(s scope) error) error {
	if s.tx != nil {
		return fn(s)
	}
	tx, err := s.beginTx(ctx, beginSnapshotStatement)
	if err != nil {
		return err
	}
	defer tx.rollbackTx(ctx)
	return fn(tx)
}

// rollbackTx rolls back, also after the caller's context ended: the connection must return clean to the pool.
func (s scope) rollbackTx(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = s.tx.Rollback(ctx)
}

// isCommitUnknown reports whether a commit that returned err may have happened. An ERROR of the server is a
// refusal. A lost connection proves nothing.
func isCommitUnknown(err error) bool {
	if err == nil || errors.Is(err, pgx.ErrTxCommitRollback) {
		return false
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || pg.SeverityUnlocalized != "ERROR" || strings.HasPrefix(pg.Code, "08")
}

// withSavepoint runs fn in a savepoint: if it fails, the transaction keeps its earlier changes.
func (s scope) withSavepoint(ctx context.Context, fn func() error) error {
	savepoint, err := s.tx.Begin(ctx)
	if err != nil {
		return classifyError(err)
	}
	if err := fn(); err != nil {
		_ = savepoint.Rollback(ctx) // if this fails, so does the transaction
		return err
	}
	return classifyError(savepoint.Commit(ctx))
}

// Tx runs fn in a transaction that tx is bound to, and commits if fn returns nil. No network call may run
// inside. Nesting is an error.
func (t *Tenant) Tx(ctx context.Context, fn func(tx *Tenant) error) error {
	var notices []ChangeEvent
	err := t.scope.inTx(ctx, func(s scope) error {
		tx := newTenant(t.store, t.id, s)
		tx.notices = &notices
		return fn(tx)
	})
	if err == nil {
		t.store.listeners.notifyAll(notices...)
	}
	return err
}

// Snapshot runs fn in a read-only snapshot that tx is bound to, or in the current transaction. It takes two
// more round trips and holds a connection until fn returns: no network call may run inside.
func (t *Tenant) Snapshot(ctx context.Context, fn func(tx *Tenant) error) error {
	if t.scope.tx != nil {
		return fn(t)
	}
	return t.scope.inSnapshot(ctx, func(s scope) error { return fn(newTenant(t.store, t.id, s)) })
}

// ensureTx runs fn in the current transaction, or in a new one.
func (t *tenant) ensureTx(ctx context.Context, fn func(tx *Tenant) error) error {
	if t.scope.tx != nil {
		return fn(t.asTenant())
	}
	return t.asTenant().Tx(ctx, fn)
}
