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

// Limits of a browser session, where nothing else is configured.
const (
	SessionLifetime = 7 * 24 * time.Hour
	SessionIdle     = 24 * time.Hour
)

// touchEvery is how often a session's last use is written: not at each request, which would cost every page a write and
// let two requests at once undo each other's changes.
const touchEvery = time.Minute

// What a session holds.
const (
	sessionUser   = "user"  // who signed in by a password
	sessionGuest  = "guest" // who signed in at a tenant's provider; programs that know of no such session open none by it
	sessionTenant = "tenant"
	sessionID     = "session"  // of the row that says where and when its person signed in; without the row it is over
	sessionSeen   = "seen"     // when it began in Unix seconds; for programs that know of no such row
	sessionSince  = "password" // when the person's password was chosen, in Unix microseconds
	sessionSSO    = "sso"      // the tenant at whose provider the person signed in; none: by a password
)

func newSessions(st *store.Store, secure bool, lifetime time.Duration) *scs.SessionManager {
	m := &scs.SessionManager{ // scs.New would begin a goroutine for a store that nobody uses, and that cannot be ended without a race
		Store: st.SessionStore(), Codec: scs.GobCodec{}, Lifetime: lifetime, HashTokenInStore: true,
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

// StartSession signs the user in to this browser, under a new token and in the first of the user's tenants. Who has a second factor is half
// signed in by it: the fault is of [TypeCodeWanted], and [Service.FinishSignIn] does the rest.
func (s *Service) StartSession(ctx context.Context, user connectors.UserID, b Browser) error {
	memberships, err := s.store.System().Memberships(ctx, user)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	if len(memberships) == 0 {
		return fault.Errorf(fault.Denied, "Your account is a member of no tenant any more. Ask an owner to add you.")
	}
	open := byPassword(memberships)
	if len(open) == 0 {
		return ssoOnly()
	}
	return s.startSession(ctx, user, open[0], b)
}

// StartSessionIn is StartSession in one of the user's tenants.
func (s *Service) StartSessionIn(ctx context.Context, user connectors.UserID, tenant connectors.TenantID, b Browser) error {
	m, err := s.store.System().Membership(ctx, user, tenant)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	if m.SSOOnly {
		return ssoOnly()
	}
	return s.startSession(ctx, user, m, b)
}

// startSession begins a session of its own: whatever this browser was signed in to before is over.
func (s *Service) startSession(ctx context.Context, user connectors.UserID, m store.Membership, b Browser) error {
	if m.SecondFactor && b.sso == nil && !b.proven {
		return s.beginHalf(ctx, user, m, b)
	}
	if err := s.endRow(ctx); err != nil {
		return err
	}
	n := connectors.Session{ID: store.NewSessionID(), UserAgent: b.UserAgent, Address: b.Address, Began: s.now(), SSO: b.sso, SecondFactor: b.proven}
	if err := s.noteSession(ctx, user, m, n, b); err != nil {
		return fmt.Errorf("note session: %w", err)
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	s.sessions.Put(ctx, sessionUser, user.String())
	s.sessions.Put(ctx, sessionTenant, m.Tenant.ID.String())
	s.sessions.Put(ctx, sessionID, n.ID.String())
	s.sessions.Put(ctx, sessionSeen, n.Began.Unix())
	since := m.PasswordSetAt
	if !b.PasswordOf.IsZero() {
		since = b.PasswordOf
	}
	s.sessions.Put(ctx, sessionSince, since.UnixMicro())
	s.sessions.Remove(ctx, sessionGuest)
	s.sessions.Remove(ctx, sessionSSO)
	_ = s.endHalf(ctx)
	s.seen(ctx, user, m.Tenant.ID)
	return nil
}

// noteSession writes the session's row, and puts a sign-in by a password on record: one by single sign-on is, by whoever asked the provider.
func (s *Service) noteSession(ctx context.Context, user connectors.UserID, m store.Membership, n connectors.Session, b Browser) error {
	if b.sso != nil {
		return s.store.System().BeginSession(ctx, user, n)
	}
	a := person(user, m, nil)
	a.RequestID, a.Address = b.RequestID, b.Address
	e := a.Event("account.sign_in", m.Email)
	e.Detail = map[string]any{"session": n.ID.String(), "second_factor": b.proven}
	return s.store.System().BeginSessionOnRecord(ctx, user, n, m.Tenant.ID, e)
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
	s.sessions.Put(ctx, sessionSince, m.PasswordSetAt.UnixMicro())
	return s.renewToken(ctx)
}

func (s *Service) renewToken(ctx context.Context) error {
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	return nil
}

// SignOut signs the person who makes the request out of this browser, and puts that on record.
func (s *Service) SignOut(ctx context.Context, a Actor) error {
	if a.UserID == nil {
		return onlyPeople()
	}
	e := a.Event("account.sign_out_here", a.Email)
	e.Detail = map[string]any{"session": a.Session.String()}
	if err := s.store.System().EndSessionOnRecord(ctx, a.Session, a.Tenant.ID, e); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return s.EndSession(ctx)
}

// EndSession ends this browser's session, and says so nowhere: the caller has, or nobody is there whose it is.
func (s *Service) EndSession(ctx context.Context) error {
	if err := s.endRow(ctx); err != nil {
		return err
	}
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

// FromSession establishes the person of the session that is loaded in ctx, and notes that it is in use. Whether it stands, and the role, are
// read anew each time: a session that was ended is over with its next request, whichever process that reaches. A person who is no member
// of the session's tenant any more is signed out, and so is every browser where another password was typed than the person has now.
//
// Who has to set a second factor up first is refused with a fault of [TypeEnrolFirst].
func (s *Service) FromSession(ctx context.Context) (Actor, error) {
	return enrolled(s.FromEnrolling(ctx))
}

// enrolled refuses who has to set a second factor up first.
func enrolled(a Actor, err error) (Actor, error) {
	if err == nil && a.EnrolFirst {
		return Actor{}, enrolFirst()
	}
	return a, err
}

// FromEnrolling is FromSession for what opens to whoever has to set a second factor up first: setting it up, and leaving.
func (s *Service) FromEnrolling(ctx context.Context) (Actor, error) {
	a, seen, err := s.fromSession(ctx)
	if err != nil {
		return Actor{}, err
	}
	if now := s.now(); now.Sub(seen) >= touchEvery {
		s.seen(ctx, *a.UserID, a.Tenant.ID)
		if err := s.store.System().UseSession(ctx, a.Session, now, middleware.GetClientIP(ctx)); err != nil {
			return Actor{}, fmt.Errorf("note use of the session: %w", err)
		}
	}
	return a, nil
}

// FromToken establishes the person of a session by its cookie's value, as it is now in the database: for a stream that
// outlives the request's own view of its session. A page that stands open uses no session.
func (s *Service) FromToken(ctx context.Context, token secret.Text) (Actor, error) {
	loaded, err := s.sessions.Load(ctx, token.Reveal())
	if err != nil {
		return Actor{}, fmt.Errorf("load session: %w", err)
	}
	a, _, err := s.fromSession(loaded)
	return enrolled(a, err)
}

// fromSession also tells when the session was last used.
func (s *Service) fromSession(ctx context.Context) (Actor, time.Time, error) {
	user, errUser := uuid.Parse(cmp.Or(s.sessions.GetString(ctx, sessionUser), s.sessions.GetString(ctx, sessionGuest)))
	tenant, errTenant := uuid.Parse(s.sessions.GetString(ctx, sessionTenant))
	if errUser != nil || errTenant != nil {
		return Actor{}, time.Time{}, notSignedIn()
	}
	id, ok := s.rowID(ctx)
	if !ok {
		return Actor{}, time.Time{}, s.expel(ctx)
	}
	userID := connectors.UserID{UUID: user}
	memberships, times, err := s.store.System().SessionMemberships(ctx, id, userID)
	if err != nil {
		return Actor{}, time.Time{}, fmt.Errorf("read session: %w", err)
	}
	memberships = s.opened(ctx, memberships)
	if now := s.now(); now.Sub(times.Seen) > s.idle || now.Sub(times.Began) > s.lifetime {
		return Actor{}, time.Time{}, s.expel(ctx)
	}
	for _, m := range memberships {
		if m.Tenant.ID.UUID != tenant {
			continue
		}
		if m.PasswordSetAt.UnixMicro() != s.sessions.GetInt64(ctx, sessionSince) {
			// The password is another one. The browser that changed it goes on with the same row under a new token, which this may be the old one of.
			return Actor{}, time.Time{}, s.destroy(ctx)
		}
		a := person(userID, m, memberships)
		a.Session, a.BySSO = id, s.bySSO(ctx) != ""
		if m.SecondFactor && !a.BySSO && !times.Proven { // it began before there was one, or on a program that asks for none
			return Actor{}, time.Time{}, s.expel(ctx)
		}
		a.Confirmed, a.Proves = times.Confirmed, m.SecondFactor
		a.EnrolFirst = m.Tenant.SecondFactorRequired && !m.SecondFactor && !a.BySSO
		return a, times.Seen, nil
	}
	return Actor{}, time.Time{}, s.expel(ctx)
}

// rowID is the id of the row of the session in ctx.
func (s *Service) rowID(ctx context.Context) (connectors.SessionID, bool) {
	id, err := uuid.Parse(s.sessions.GetString(ctx, sessionID))
	return connectors.SessionID{UUID: id}, err == nil
}

func (s *Service) endRow(ctx context.Context) error {
	id, ok := s.rowID(ctx)
	if !ok {
		return nil
	}
	if err := s.store.System().EndSession(ctx, id); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// destroy ends what the browser holds, and leaves the row: it ends with the password, or goes on.
func (s *Service) destroy(ctx context.Context) error {
	if err := s.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return notSignedIn()
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
		Issued:      m.Issued,
	}
}
