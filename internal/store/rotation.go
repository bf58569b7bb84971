package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// readersTimeout bounds the wait for processes to load the new keys. They check every two seconds.
const readersTimeout = time.Minute

// RotationStep is a kind of progress.
type RotationStep int

// Rotation steps in order.
const (
	RotationResumed   RotationStep = iota // continues an interrupted rotation
	KeyAdded                              // the new key opens and does not seal yet
	ReadersAwaited                        // Done of Total live processes have the newest keys
	KeyPromoted                           // the new key seals
	SecretsResealed                       // Done of Total rows
	SecretUnreadable                      // no key opens Row
	OldKeysRetired                        // nothing is sealed by them
	TenantKeysEnabled                     // tenants' own keys seal their secrets
	BearersKept                           // an older MAC key stays for Done API keys, Total agent tokens and Codes
)

// RotationProgress describes a step of a rotation.
type RotationProgress struct {
	Step        RotationStep
	Done, Total int
	Codes       int // recovery codes
	Row         string
}

// RotationOptions configure a rotation. The zero value is valid.
type RotationOptions struct {
	Notify   func(RotationProgress) // nil: no progress reports
	Asked    *Event                 // audit entry of a tenant's rotation; nil: none
	Patience time.Duration          // wait for processes to load the new keys; 0: a minute
}

// RotateSealingKeys replaces the installation's key, which seals the tenants' keys, while other processes use
// it. The next step is derived from the database alone, so an interrupted rotation continues when called again:
//
//  1. One key: add another, which does not seal yet.
//  2. The newest key does not seal: wait until every live process has it, then let it seal. In the other order a
//     process could find secrets that it cannot open.
//  3. There are older keys: wait until every live process seals by the newest, reseal what older keys sealed, and
//     then retire them. In the other order the old key would keep sealing.
//
// An installation older than tenants' keys starts to use them, and every secret moves to its tenant's key.
//
// It fails with Conflict during another rotation, and if rows are left that no key opens: then the old keys
// stay.
func (s *Store) RotateSealingKeys(ctx context.Context, o RotationOptions) error {
	return s.runRotation(ctx, installationKeys{}, o)
}

// RotateTenantKeys is [Store.RotateSealingKeys] for one tenant's own key. It also fails with Conflict while the
// installation's key seals the tenant's secrets.
func (s *Store) RotateTenantKeys(ctx context.Context, id connectors.TenantID, o RotationOptions) error {
	if _, err := s.keyring.reloadIfChanged(ctx); err != nil {
		return err
	}
	have := s.keyring.current.Load()
	if !have.perTenant {
		return fault.Errorf(fault.Conflict, "The installation's key still encrypts all tenants' secrets. Run patchbay keys rotate without a tenant first.")
	}
	if _, err := s.keyring.tenantSealerOrNew(ctx, systemScope(s.pool), have, id.String()); err != nil {
		return err
	}
	return s.runRotation(ctx, singleTenantKeys{id}, o)
}

func (s *Store) runRotation(ctx context.Context, of rotationTarget, o RotationOptions) error {
	r := &rotation{scope: systemScope(s.pool), keys: s.keyring, target: of, auditEvent: o.Asked, notify: o.Notify, timeout: o.Patience}
	if r.notify == nil {
		r.notify = func(RotationProgress) {}
	}
	if r.timeout == 0 {
		r.timeout = readersTimeout
	}
	return s.withRotationLock(ctx, func() error { return r.run(ctx) })
}

// withRotationLock runs fn while no other process rotates. The lock has its own connection because a pool may
// have only one, and is a transaction's because a pooler shares sessions. Losing it is harmless: each step
// checks again that it is due.
func (s *Store) withRotationLock(ctx context.Context, fn func() error) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return classifyError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return classifyError(err)
	}
	defer func() { // a connection that is only closed keeps the lock until the server notices
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = tx.Rollback(ctx)
	}()
	if _, err := tx.Exec(ctx, "set local idle_in_transaction_session_timeout = 0"); err != nil {
		return classifyError(err)
	}
	locked, err := dbgen.New(tx).TryLockRotation(ctx)
	if err != nil {
		return classifyError(err)
	}
	if !locked {
		return fault.Errorf(fault.Conflict, "A key rotation is already running.")
	}
	return fn()
}

// SealingKeys returns, as of the last load by this process, the number of installation keys, whether a rotation
// is unfinished, and whether they seal only tenants' keys.
func (s *Store) SealingKeys() (n int, unfinished, perTenant bool) {
	k := s.keyring.current.Load()
	return len(k.Keys()), findStage(k.Sealer) != stageSingle, k.perTenant
}

// KeysMoving reports whether the keys were being moved to another PATCHBAY_KEYSET at the last load by this
// process.
func (s *Store) KeysMoving() bool { return s.keyring.current.Load().moving }

// rotationStage is the stage of a rotation.
type rotationStage int

const (
	stageSingle   rotationStage = iota // one key
	stageAdded                         // the newest key does not seal
	stagePromoted                      // the newest key seals, older ones exist
)

func findStage(k *secret.Sealer) rotationStage {
	switch {
	case len(k.Keys()) == 1:
		return stageSingle
	case k.Primary() != k.Newest():
		return stageAdded
	}
	return stagePromoted
}

type rotation struct {
	scope      scope
	keys       *liveKeyring
	target     rotationTarget
	auditEvent *Event
	notify     func(RotationProgress)
	timeout    time.Duration

	resealed int
}

func (r *rotation) run(ctx context.Context) error {
	for begun := false; ; begun = true {
		if _, err := r.keys.reloadIfChanged(ctx); err != nil {
			return err
		}
		have := r.keys.current.Load()
		sealer, err := r.target.loadSealer(ctx, r.scope, have)
		if err != nil {
			return err
		}
		now := findStage(sealer)
		switch {
		case now == stageSingle && begun:
			return nil // another process finished it
		case now != stageSingle && !begun:
			r.notify(RotationProgress{Step: RotationResumed})
		}
		last := now == stagePromoted && have.perTenant
		if err := r.runStep(ctx, now, have); err != nil {
			return err
		}
		if last && !r.target.isSingleTenant() {
			return r.reportBearersKept(ctx)
		}
		if last {
			return nil
		}
	}
}

func (r *rotation) runStep(ctx context.Context, now rotationStage, have *keyringSnapshot) error {
	if now == stageSingle {
		return r.addKey(ctx)
	}
	if err := r.awaitReaders(ctx, have.generation); err != nil {
		return err
	}
	switch {
	case now == stageAdded:
		return r.promoteKey(ctx)
	case !have.perTenant:
		return r.enableTenantKeys(ctx)
	}
	return r.resealAndRetire(ctx)
}
