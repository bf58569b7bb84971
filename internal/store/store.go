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

// Store is the database. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	listenPool *pgxpool.Pool // pool for LISTEN connections; nil: none possible
	keyring    *liveKeyring
	jobs       *queue.Inserter
	sessions   *Sessions
	listeners  changeListeners
	waits      *waitQueue
	answers    *answerCounts
}

// Open uses the pool of a migrated database, which the caller closes. The first Open of a database makes the
// keyring and stores it wrapped by kek. With another kek it fails with a fault, and nothing is written.
func Open(ctx context.Context, pool *pgxpool.Pool, kek secret.KEK) (*Store, error) {
	return OpenPooled(ctx, pool, pool, kek)
}

// OpenPooled is Open behind a pooler in transaction mode, which does not support LISTEN: Watch connects by
// listens instead, and receives only local changes if that is nil.
func OpenPooled(ctx context.Context, pool, listens *pgxpool.Pool, kek secret.KEK) (*Store, error) {
	keyring, err := openRing(ctx, systemScope(pool), kek)
	if err != nil {
		return nil, err
	}
	jobs, err := queue.NewInserter(pool)
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, listenPool: listens, keyring: keyring, jobs: jobs, sessions: newSessions(pool), waits: newWaitQueue(pool.Ping), answers: newAnswerCounts()}, nil
}

// Close stops the background work of Open and waits for it. The pool stays open.
func (s *Store) Close() {
	s.waits.close()
	s.sessions.close()
}

// Tenant returns the entry point to one tenant's rows.
func (s *Store) Tenant(id connectors.TenantID) *Tenant {
	return newTenant(s, id, tenantScope(s.pool, id.String()))
}

// Vault returns the entry point to one tenant's secrets.
func (s *Store) Vault(id connectors.TenantID) *Vault {
	scope := tenantScope(s.pool, id.String())
	return &Vault{keyring: s.keyring, id: id, scope: scope, q: dbgen.New(scope), jobs: s.jobs}
}

// System returns the entry point across tenants.
func (s *Store) System() *System { return newSystem(systemScope(s.pool), s.jobs, s.keyring) }

// Keyring returns the current keyring for MACs. Its sealing key may be outdated a moment later.
func (s *Store) Keyring() *secret.Keyring { return s.keyring.current.Load().Keyring }

// SessionStore returns the store of browser sessions.
func (s *Store) SessionStore() *Sessions { return s.sessions }

// Ready fails if the database does not answer or its schema is older than this program's.
func (s *Store) Ready(ctx context.Context) error {
	applied, wanted, err := db.Current(ctx, s.pool)
	if err != nil {
		return err
	}
	if applied < wanted {
		return fault.Errorf(fault.Unavailable, "The database has schema version %d; this program needs %d. Run `patchbay migrate`.", applied, wanted)
	}
	return nil
}

// newID makes a UUIDv7, which sorts by time.
func newID() uuid.UUID {
	return uuid.Must(uuid.NewV7()) // fails only without a source of randomness
}
