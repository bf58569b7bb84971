package auth

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Default limits of a session.
const (
	SessionLifetime = 7 * 24 * time.Hour
	SessionIdle     = 24 * time.Hour
)

// touchEvery is the interval of recording a session's use. Per request, every page would write, and concurrent
// requests would overwrite each other.
const touchEvery = time.Minute

// Session keys.
const (
	sessionUserKey     = "user"  // person signed in by password
	sessionSSOUserKey  = "guest" // person signed in at a tenant's provider; older releases ignore it and open no session
	sessionTenantKey   = "tenant"
	sessionIDKey       = "session"  // id of the session's row, without which it is invalid
	sessionBeganKey    = "seen"     // start in Unix seconds; for releases without the row
	sessionPasswordKey = "password" // when the password was chosen, Unix microseconds
	sessionSSOKey      = "sso"      // tenant of the provider; absent: by password
)

func newSessions(st *store.Store, secure bool, lifetime time.Duration) *scs.SessionManager {
	m := &scs.SessionManager{ // scs.New would start a goroutine for an unused store, which cannot be stopped without a race
		Store: st.SessionStore(), Codec: scs.GobCodec{}, Lifetime: lifetime + sessionGrace, HashTokenInStore: true,
		ErrorFunc: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		},
		Cookie: scs.SessionCookie{
			Name: "patchbay", Path: "/", HttpOnly: true, Persist: true,
			SameSite: http.SameSiteLaxMode, // Strict would drop the session on the redirect from an authorization server
		},
	}
	if secure {
		m.Cookie.Secure = true
		m.Cookie.Name = "__Host-patchbay"
	}
	return m
}

// Sessions returns the session manager. LoadAndSave must wrap every handler that calls [Service.FromSession].
func (s *Service) Sessions() *scs.SessionManager { return s.sessions }

// StartSession signs the user in under a new token, in the first of their tenants. With a second factor it only
// begins a partial sign-in and fails with [TypeCodeWanted]; [Service.FinishSignIn] completes it.
func (s *Service) StartSession(ctx context.Context, user connectors.UserID, b Browser) error {
	memberships, err := s.store.System().People().Memberships(ctx, user)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	if len(memberships) == 0 {
		return fault.Errorf(fault.Denied, "You no longer belong to an organisation. Ask an owner to add you.")
	}
	open := passwordMemberships(memberships)
	if len(open) == 0 {
		return errSSOOnly()
	}
	return s.startSession(ctx, user, open[0], b)
}

// StartSessionIn is StartSession in one of the user's tenants.
func (s *Service) StartSessionIn(ctx context.Context, user connectors.UserID, tenant connectors.TenantID, b Browser) error {
	m, err := s.store.System().People().Membership(ctx, user, tenant)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	if m.SSOOnly {
		return errSSOOnly()
	}
	return s.startSession(ctx, user, m, b)
}

// startSession begins a new session and ends the browser's previous one.
func (s *Service) startSession(ctx context.Context, user connectors.UserID, m store.Membership, b Browser) error {
	if m.SecondFactor && b.sso == nil && !b.proven {
		return s.beginPartial(ctx, user, m, b)
	}
	if err := s.endStoredSession(ctx); err != nil {
		return err
	}
	n := connectors.Session{ID: store.NewSessionID(), UserAgent: b.UserAgent, Address: b.Address, Began: s.now(), SSO: b.sso, SecondFactor: b.proven}
	if err := s.storeSession(ctx, user, m, n, b); err != nil {
		return fmt.Errorf("note session: %w", err)
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	s.sessions.Put(ctx, sessionUserKey, user.String())
	s.sessions.Put(ctx, sessionTenantKey, m.Tenant.ID.String())
	s.sessions.Put(ctx, sessionIDKey, n.ID.String())
	s.sessions.Put(ctx, sessionBeganKey, n.Began.Unix())
	since := m.PasswordSetAt
	if !b.PasswordSetAt.IsZero() {
		since = b.PasswordSetAt
	}
	s.sessions.Put(ctx, sessionPasswordKey, since.UnixMicro())
	s.sessions.Remove(ctx, sessionSSOUserKey)
	s.sessions.Remove(ctx, sessionSSOKey)
	_ = s.endPartial(ctx)
	s.markDashboardUsed(ctx, user, m.Tenant.ID)
	return nil
}

// storeSession stores the session's row and audits a sign-in by password. Package sso audits single sign-on.
func (s *Service) storeSession(ctx context.Context, user connectors.UserID, m store.Membership, n connectors.Session, b Browser) error {
	if b.sso != nil {
		return s.store.System().Sessions().BeginSession(ctx, user, n)
	}
	a := newPersonActor(user, m, nil)
	a.RequestID, a.Address = b.RequestID, b.Address
	e := a.Event("account.sign_in", m.Email)
	e.Detail = map[string]any{"session": n.ID.String(), "second_factor": b.proven}
	return s.store.System().Sessions().BeginSessionOnRecord(ctx, user, n, m.Tenant.ID, e)
}

// markDashboardUsed records use of the tenant's dashboard. A failure does not fail the page.
func (s *Service) markDashboardUsed(ctx context.Context, user connectors.UserID, tenant connectors.TenantID) {
	if err := s.store.System().People().MarkDashboardUsed(ctx, user, tenant); err != nil {
		s.log.WarnContext(ctx, "dashboard use not recorded", "tenant_id", tenant, "error", err)
	}
}

// keepSession keeps the current session across a password change, under a new token.
func (s *Service) keepSession(ctx context.Context, a Actor) error {
	m, err := s.store.System().People().Membership(ctx, *a.UserID, a.Tenant.ID)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	s.sessions.Put(ctx, sessionPasswordKey, m.PasswordSetAt.UnixMicro())
	return s.renewToken(ctx)
}

func (s *Service) renewToken(ctx context.Context) error {
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	return nil
}

// SignOut ends the actor's session in this browser, with an audit event.
func (s *Service) SignOut(ctx context.Context, a Actor) error {
	if a.UserID == nil {
		return errPeopleOnly()
	}
	e := a.Event("account.sign_out_here", a.Email)
	e.Detail = map[string]any{"session": a.Session.String()}
	if err := s.store.System().Sessions().EndSessionOnRecord(ctx, a.Session, a.Tenant.ID, e); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return s.EndSession(ctx)
}

// EndSession ends this browser's session without an audit event.
func (s *Service) EndSession(ctx context.Context) error {
	if err := s.endStoredSession(ctx); err != nil {
		return err
	}
	if err := s.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// SwitchTenant makes a tenant the session's current one. It fails with NotFound without a membership.
func (s *Service) SwitchTenant(ctx context.Context, a Actor, slug string) (connectors.Tenant, error) {
	for _, m := range a.Memberships {
		if m.Tenant.Slug == slug {
			s.sessions.Put(ctx, sessionTenantKey, m.Tenant.ID.String())
			s.markDashboardUsed(ctx, *a.UserID, m.Tenant.ID)
			return m.Tenant, nil
		}
	}
	return connectors.Tenant{}, fault.Errorf(fault.NotFound, "No such organisation.")
}

// FromSession identifies the person of the session in ctx, and records its use. Validity and role are read on
// each request, so an ended session is refused by any process. A person that left the session's tenant is
// signed out, as is a browser with an outdated password. It fails with [TypeMustEnrolSecondFactor] if a second factor must
// be set up first.
func (s *Service) FromSession(ctx context.Context) (Actor, error) {
	return requireEnrolled(s.FromSessionBeforeEnrolment(ctx))
}

// requireEnrolled fails if a second factor must be set up first.
func requireEnrolled(a Actor, err error) (Actor, error) {
	if err == nil && a.MustEnrolSecondFactor {
		return Actor{}, errEnrolFirst()
	}
	return a, err
}

// FromSessionBeforeEnrolment is FromSession for what is open before a required second factor is set up: the setup, and
// signing out.
func (s *Service) FromSessionBeforeEnrolment(ctx context.Context) (Actor, error) {
	a, seen, err := s.fromSession(ctx)
	if err != nil {
		return Actor{}, err
	}
	if now := s.now(); now.Sub(seen) >= touchEvery {
		if s.sessions.Exists(ctx, sessionUnsentKey) && !s.holdsForm(ctx, a) {
			s.DropForm(ctx)
		}
		s.markDashboardUsed(ctx, *a.UserID, a.Tenant.ID)
		if err := s.store.System().Sessions().UseSession(ctx, a.Session, now, middleware.GetClientIP(ctx)); err != nil {
			return Actor{}, fmt.Errorf("note use of the session: %w", err)
		}
	}
	return a, nil
}

// FromToken identifies the person of a session cookie by the database, for event streams that outlive the
// request's session data. It does not count as use.
func (s *Service) FromToken(ctx context.Context, token secret.Text) (Actor, error) {
	loaded, err := s.sessions.Load(ctx, token.Reveal())
	if err != nil {
		return Actor{}, fmt.Errorf("load session: %w", err)
	}
	a, _, err := s.fromSession(loaded)
	return requireEnrolled(a, err)
}

// fromSession also returns when the session was last used. The refusal of an ended session has an [EndedSession].
func (s *Service) fromSession(ctx context.Context) (Actor, time.Time, error) {
	user, errUser := uuid.Parse(cmp.Or(s.sessions.GetString(ctx, sessionUserKey), s.sessions.GetString(ctx, sessionSSOUserKey)))
	tenant, errTenant := uuid.Parse(s.sessions.GetString(ctx, sessionTenantKey))
	if errUser != nil || errTenant != nil {
		return Actor{}, time.Time{}, errNotSignedIn()
	}
	a, seen, err := s.checkSession(ctx, connectors.UserID{UUID: user}, tenant)
	if f := fault.As(err); f != nil && f.Kind == fault.Unauthenticated {
		f.Err = &EndedSession{user: connectors.UserID{UUID: user}, tenant: connectors.TenantID{UUID: tenant}}
	}
	return a, seen, err
}

func (s *Service) checkSession(ctx context.Context, userID connectors.UserID, tenant uuid.UUID) (Actor, time.Time, error) {
	id, ok := s.rowID(ctx)
	if !ok {
		return Actor{}, time.Time{}, s.endSession(ctx)
	}
	memberships, times, err := s.store.System().Sessions().SessionMemberships(ctx, id, userID)
	if err != nil {
		return Actor{}, time.Time{}, fmt.Errorf("read session: %w", err)
	}
	memberships = s.filterMemberships(ctx, memberships)
	if now := s.now(); now.Sub(times.Seen) > s.idle || now.Sub(times.Began) > s.lifetime {
		return Actor{}, time.Time{}, s.endSession(ctx)
	}
	for _, m := range memberships {
		if m.Tenant.ID.UUID != tenant {
			continue
		}
		if m.PasswordSetAt.UnixMicro() != s.sessions.GetInt64(ctx, sessionPasswordKey) {
			// The password has changed. The browser that changed it continues the row under a new token, so
			// only this token's data is dropped.
			return Actor{}, time.Time{}, s.dropSessionData(ctx)
		}
		a := newPersonActor(userID, m, memberships)
		a.Session, a.BySSO = id, s.bySSO(ctx) != ""
		if m.SecondFactor && !a.BySSO && !times.Proven { // the session predates the factor, or an older release began it
			return Actor{}, time.Time{}, s.endSession(ctx)
		}
		a.ReauthenticatedAt, a.HasSecondFactor = times.Confirmed, m.SecondFactor
		a.MustEnrolSecondFactor = m.Tenant.SecondFactorRequired && !m.SecondFactor && !a.BySSO
		return a, times.Seen, nil
	}
	return Actor{}, time.Time{}, s.endSession(ctx)
}

// rowID returns the id of the session's row.
func (s *Service) rowID(ctx context.Context) (connectors.SessionID, bool) {
	id, err := uuid.Parse(s.sessions.GetString(ctx, sessionIDKey))
	return connectors.SessionID{UUID: id}, err == nil
}

func (s *Service) endStoredSession(ctx context.Context) error {
	id, ok := s.rowID(ctx)
	if !ok {
		return nil
	}
	if err := s.store.System().Sessions().EndSession(ctx, id); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// dropSessionData drops the session data and keeps the row.
func (s *Service) dropSessionData(ctx context.Context) error {
	if err := s.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return errNotSignedIn()
}

func (s *Service) endSession(ctx context.Context) error {
	if err := s.EndSession(ctx); err != nil {
		return err
	}
	return errNotSignedIn()
}

func errNotSignedIn() error { return fault.Errorf(fault.Unauthenticated, "Sign in to continue.") }

func newPersonActor(user connectors.UserID, m store.Membership, all []store.Membership) Actor {
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
		Issued:      m.Issued,
	}
}
