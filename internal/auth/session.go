package auth

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Limits of a browser session.
const (
	SessionLifetime = 7 * 24 * time.Hour
	SessionIdle     = 24 * time.Hour
)

// touchEvery is how often a session's last use is written: not at each request, which would cost every page a write and
// let two requests at once undo each other's changes.
const touchEvery = time.Minute

// What a session holds.
const (
	sessionUser   = "user"
	sessionTenant = "tenant"
	sessionSeen   = "seen"     // last use in Unix seconds, to within touchEvery
	sessionSince  = "password" // when the person's password was chosen, in Unix microseconds
)

func newSessions(st *store.Store, secure bool) *scs.SessionManager {
	m := &scs.SessionManager{ // scs.New would begin a goroutine for a store that nobody uses, and that cannot be ended without a race
		Store: st.SessionStore(), Codec: scs.GobCodec{}, Lifetime: SessionLifetime, HashTokenInStore: true,
		ErrorFunc: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		},
		Cookie: scs.SessionCookie{
			Name: "patchbay", Path: "/", HttpOnly: true, Persist: true,
			SameSite: http.SameSiteLaxMode, // Strict would lose the session on the way back from an authorization server
		},
	}
	if secure {
		m.Cookie.Secure = true
		m.Cookie.Name = "__Host-patchbay"
	}
	return m
}

// Sessions is the session manager; its LoadAndSave stands before every handler that calls [Service.FromSession].
func (s *Service) Sessions() *scs.SessionManager { return s.sessions }

// StartSession signs the user in to this browser, under a new token and in the first of the user's tenants.
func (s *Service) StartSession(ctx context.Context, user connectors.UserID) error {
	memberships, err := s.store.System().Memberships(ctx, user)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	if len(memberships) == 0 {
		return fault.Errorf(fault.Denied, "Your account is a member of no tenant any more. Ask an owner to add you.")
	}
	return s.startSession(ctx, user, memberships[0])
}

// StartSessionIn is StartSession in one of the user's tenants.
func (s *Service) StartSessionIn(ctx context.Context, user connectors.UserID, tenant connectors.TenantID) error {
	m, err := s.store.System().Membership(ctx, user, tenant)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	return s.startSession(ctx, user, m)
}

func (s *Service) startSession(ctx context.Context, user connectors.UserID, m store.Membership) error {
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	s.sessions.Put(ctx, sessionUser, user.String())
	s.sessions.Put(ctx, sessionTenant, m.Tenant.ID.String())
	s.sessions.Put(ctx, sessionSeen, s.now().Unix())
	s.sessions.Put(ctx, sessionSince, m.PasswordSetAt.UnixMicro())
	s.seen(ctx, user, m.Tenant.ID)
	return nil
}

// seen notes that a person uses a tenant's dashboard. The page is worth more than the date.
func (s *Service) seen(ctx context.Context, user connectors.UserID, tenant connectors.TenantID) {
	if err := s.store.System().Seen(ctx, user, tenant); err != nil {
		s.log.WarnContext(ctx, "use of the dashboard not noted", "tenant_id", tenant, "error", err)
	}
}

// keepSession lets the session in ctx outlive a change of its person's password, under a new token.
func (s *Service) keepSession(ctx context.Context, a Actor) error {
	m, err := s.store.System().Membership(ctx, *a.UserID, a.Tenant.ID)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	s.sessions.Put(ctx, sessionSince, m.PasswordSetAt.UnixMicro())
	return nil
}

// EndSession signs this browser out.
func (s *Service) EndSession(ctx context.Context) error {
	if err := s.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// SwitchTenant makes the tenant with that slug the session's current one. A tenant in which the actor is no member is
// NotFound, as one that does not exist.
func (s *Service) SwitchTenant(ctx context.Context, a Actor, slug string) (connectors.Tenant, error) {
	for _, m := range a.Memberships {
		if m.Tenant.Slug == slug {
			s.sessions.Put(ctx, sessionTenant, m.Tenant.ID.String())
			s.seen(ctx, *a.UserID, m.Tenant.ID)
			return m.Tenant, nil
		}
	}
	return connectors.Tenant{}, fault.Errorf(fault.NotFound, "There is no such tenant.")
}

// FromSession establishes the person of the session that is loaded in ctx. The role is read anew each time. A person who is
// no member of the session's tenant any more is signed out, and so is every browser where another password was typed than
// the person has now.
func (s *Service) FromSession(ctx context.Context) (Actor, error) {
	user, err := uuid.Parse(s.sessions.GetString(ctx, sessionUser))
	if err != nil {
		return Actor{}, notSignedIn()
	}
	tenant, err := uuid.Parse(s.sessions.GetString(ctx, sessionTenant))
	if err != nil {
		return Actor{}, notSignedIn()
	}
	if idle := s.now().Sub(time.Unix(s.sessions.GetInt64(ctx, sessionSeen), 0)); idle > SessionIdle {
		return Actor{}, s.expel(ctx)
	} else if idle >= touchEvery {
		s.sessions.Put(ctx, sessionSeen, s.now().Unix())
		s.seen(ctx, connectors.UserID{UUID: user}, connectors.TenantID{UUID: tenant})
	}
	userID := connectors.UserID{UUID: user}
	memberships, err := s.store.System().Memberships(ctx, userID)
	if err != nil {
		return Actor{}, fmt.Errorf("list memberships: %w", err)
	}
	for _, m := range memberships {
		if m.Tenant.ID.UUID == tenant && m.PasswordSetAt.UnixMicro() == s.sessions.GetInt64(ctx, sessionSince) {
			return person(userID, m, memberships), nil
		}
	}
	return Actor{}, s.expel(ctx)
}

// FromToken establishes the person of a session by its cookie's value, as it is now in the database: for a stream that
// outlives the request's own view of its session.
func (s *Service) FromToken(ctx context.Context, token secret.Text) (Actor, error) {
	loaded, err := s.sessions.Load(ctx, token.Reveal())
	if err != nil {
		return Actor{}, fmt.Errorf("load session: %w", err)
	}
	return s.FromSession(loaded)
}

func (s *Service) expel(ctx context.Context) error {
	if err := s.EndSession(ctx); err != nil {
		return err
	}
	return notSignedIn()
}

func notSignedIn() error { return fault.Errorf(fault.Unauthenticated, "Sign in to go on.") }

func person(user connectors.UserID, m store.Membership, all []store.Membership) Actor {
	name := m.Name
	if name == "" {
		name = m.Email
	}
	return Actor{
		Kind:        KindPerson,
		Tenant:      m.Tenant,
		Role:        m.Role,
		UserID:      &user,
		Name:        name,
		Email:       m.Email,
		Memberships: all,
	}
}
