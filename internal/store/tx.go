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

// errNested is a mistake in our own code: a transaction inside one would commit or roll back with it, and surprise.
var errNested = errors.New("store: a transaction is open already")

// ErrUnsure is of a transaction that may have been committed: the database did not get to say so.
var ErrUnsure = errors.New("store: whether the transaction was committed is not known")

// rollbackTime bounds the rollback of a transaction whose caller has gone.
const rollbackTime = 5 * time.Second

// inTx runs fn in a transaction and commits when it returns nil.
func (s scope) inTx(ctx context.Context, fn func(s scope) error) error {
	if s.tx != nil {
		return errNested
	}
	tx, err := s.begin(ctx, begin)
	if err != nil {
		return err
	}
	defer tx.rollback(ctx) // after a commit this does nothing
	if err := fn(tx); err != nil {
		return err
	}
	err = tx.tx.Commit(ctx)
	if unsure(err) {
		err = fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return classify(err)
}

// inSnapshot runs fn in a read-only transaction whose statements all see the same moment. Within a transaction fn sees what that sees.
// The database ends no such transaction for what others do: there is nothing to retry.
func (s scope) inSnapshot(ctx context.Context, fn func(s scope) error) error {
	if s.tx != nil {
		return fn(s)
	}
	tx, err := s.begin(ctx, beginSnapshot)
	if err != nil {
		return err
	}
	defer tx.rollback(ctx)
	return fn(tx)
}

// rollback ends a transaction, also where the caller's context has ended: the connection has to be given back clean.
func (s scope) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_ = s.tx.Rollback(ctx)
}

// unsure tells whether a commit that ended with err may have happened. The database says no with an error; one that ends the connection tells nothing:
// it can come after the commit is written.
func unsure(err error) bool {
	if err == nil || errors.Is(err, pgx.ErrTxCommitRollback) {
		return false
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || pg.SeverityUnlocalized != "ERROR" || strings.HasPrefix(pg.Code, "08")
}

// apart runs fn behind a savepoint: where it fails, what the transaction did before still stands.
func (s scope) apart(ctx context.Context, fn func() error) error {
	savepoint, err := s.tx.Begin(ctx)
	if err != nil {
		return classify(err)
	}
	if err := fn(); err != nil {
		_ = savepoint.Rollback(ctx) // where this fails, so does the transaction
		return err
	}
	return classify(savepoint.Commit(ctx))
}

// Tx runs fn in a transaction: tx is the same door, bound to it. It commits when fn returns nil, and rolls back otherwise. No
// network call belongs inside. Nesting is an error.
func (t *Tenant) Tx(ctx context.Context, fn func(tx *Tenant) error) error {
	var said []Notice
	err := t.scope.inTx(ctx, func(s scope) error {
		tx := newTenant(t.store, t.id, s)
		tx.said = &said
		return fn(tx)
	})
	if err == nil {
		t.store.ears.tell(said...)
	}
	return err
}

// Snapshot runs fn in a read-only transaction whose statements all see the same moment: tx is the same door, bound to it. Within a
// transaction fn sees what that sees. It takes two round trips more than the statements, and holds a connection until fn returns: no
// network call belongs inside.
func (t *Tenant) Snapshot(ctx context.Context, fn func(tx *Tenant) error) error {
	if t.scope.tx != nil {
		return fn(t)
	}
	return t.scope.inSnapshot(ctx, func(s scope) error { return fn(newTenant(t.store, t.id, s)) })
}

// within runs fn in the transaction that t is bound to, or else in one of its own.
func (t *Tenant) within(ctx context.Context, fn func(tx *Tenant) error) error {
	if t.scope.tx != nil {
		return fn(t)
	}
	return t.Tx(ctx, fn)
}
