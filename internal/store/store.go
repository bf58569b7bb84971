package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Store is the database, behind its doors. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	listens  *pgxpool.Pool // how Watch connects; nil: there is no way to listen
	keyring  *ring
	jobs     *queue.Inserter
	sessions *Sessions
	ears     ears
	waits    *waitQueue
}

// Open takes the pool of a migrated database, which stays the caller's to close. The first Open of a database makes the
// keyring and stores it wrapped by kek; later ones open it. With another kek the error is a fault, and nothing is written.
func Open(ctx context.Context, pool *pgxpool.Pool, kek secret.KEK) (*Store, error) {
	return OpenPooled(ctx, pool, pool, kek)
}

// OpenPooled is Open behind a pooler, which makes those who listen deaf: Watch connects as the pool listens does, and hears nothing
// where that is nil.
func OpenPooled(ctx context.Context, pool, listens *pgxpool.Pool, kek secret.KEK) (*Store, error) {
	keyring, err := openRing(ctx, systemScope(pool), kek)
	if err != nil {
		return nil, err
	}
	jobs, err := queue.NewInserter(pool)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, listens: listens, keyring: keyring, jobs: jobs, sessions: newSessions(pool), waits: newWaitQueue(pool.Ping)}, nil
}

// Close stops what Open started and waits for it. The pool stays open.
func (s *Store) Close() {
	s.waits.close()
	s.sessions.close()
}

// Tenant opens the door to one tenant's rows.
func (s *Store) Tenant(id connectors.TenantID) *Tenant {
	return newTenant(s, id, tenantScope(s.pool, id.String()))
}

// Vault opens the door to one tenant's secrets.
func (s *Store) Vault(id connectors.TenantID) *Vault {
	scope := tenantScope(s.pool, id.String())
	return &Vault{keyring: s.keyring, id: id, scope: scope, q: dbgen.New(scope), jobs: s.jobs}
}

// System opens the door across tenants.
func (s *Store) System() *System { return newSystem(systemScope(s.pool), s.jobs, s.keyring) }

// Keyring is what authenticates tokens, as it is now. What seals secrets in it may be another key a moment later.
func (s *Store) Keyring() *secret.Keyring { return s.keyring.now.Load().Keyring }

// SessionStore keeps the browsers' sessions.
func (s *Store) SessionStore() *Sessions { return s.sessions }

// Ready tells whether the database answers and has the schema that this program wants, or a newer one.
func (s *Store) Ready(ctx context.Context) error {
	applied, wanted, err := db.Current(ctx, s.pool)
	if err != nil {
		return err
	}
	if applied < wanted {
		return fault.Errorf(fault.Unavailable, "The database has schema version %d and this program wants %d. Run `patchbay migrate`.", applied, wanted)
	}
	return nil
}

// newID makes an id that sorts by time.
func newID() uuid.UUID {
	return uuid.Must(uuid.NewV7()) // fails only where the machine has no randomness, and then nothing works
}
