package auth

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/alexedwards/scs/v2"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Options configure a [Service]. Store is required.
type Options struct {
	Store        *store.Store
	Secure       bool   // the base URL is https: cookies are Secure and __Host-
	BaseURL      string // without a trailing slash: where clients reach Patchbay, for proofs
	Host         string // host name for one-time code apps; may be empty
	Log          *slog.Logger
	Now          func() time.Time // nil: time.Now
	PasswordCost *argon2id.Params // nil: 64 MiB, one pass
	HistoryDays  int              // maximum per tenant; 0: connectors.DefaultHistoryDays

	SessionIdle     time.Duration // idle timeout of sessions; 0: [SessionIdle]
	SessionLifetime time.Duration // lifetime of sessions; 0: [SessionLifetime]
}

// Service identifies actors and manages members, keys and sessions.
type Service struct {
	store    *store.Store
	log      *slog.Logger
	now      func() time.Time
	sessions *scs.SessionManager
	hasher   *hasher
	maxDays  int // days of history
	idle     time.Duration
	lifetime time.Duration
	host     string
	baseURL  string

	touchedMu sync.Mutex
	touched   map[connectors.APIKeyID]time.Time // guarded by touchedMu: when each key's use was recorded
}

// New makes a Service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.PasswordCost == nil {
		o.PasswordCost = &defaultCost
	}
	return &Service{
		store:    o.Store,
		log:      o.Log,
		now:      o.Now,
		sessions: newSessions(o.Store, o.Secure, cmp.Or(o.SessionLifetime, SessionLifetime)),
		hasher:   newHasher(*o.PasswordCost),
		maxDays:  cmp.Or(o.HistoryDays, connectors.DefaultHistoryDays),
		idle:     cmp.Or(o.SessionIdle, SessionIdle),
		lifetime: cmp.Or(o.SessionLifetime, SessionLifetime),
		host:     o.Host,
		baseURL:  o.BaseURL,
		touched:  map[connectors.APIKeyID]time.Time{},
	}
}
