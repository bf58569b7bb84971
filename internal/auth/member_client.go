package auth

import (
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// maxProviderAge is how long a client that acts as an agent keeps its access without a sign-in of its person at
// the provider. A client that acts as the person keeps it for a session's lifetime.
const maxProviderAge = 30 * 24 * time.Hour

// ClientAuthorization is how a person authorized a client.
type ClientAuthorization struct {
	At       time.Time
	BySSO    bool // signed in at the tenant's provider
	AsMember bool // the client acts as the person
}

// EndReason returns why a client lost its access, given its person's current state; empty: it has not. What ends
// the person's sessions ends clients that act as them. A member bound to single sign-on keeps no client
// authorized by password, nor one for long without a new sign-in.
func (s *Service) EndReason(l ClientAuthorization, today store.ClientOwner, now time.Time) string {
	away := maxProviderAge
	if l.AsMember {
		away = s.lifetime
	}
	switch {
	case l.AsMember && !l.At.After(today.SignedOut):
		return "the person who authorized it was signed out everywhere"
	case today.SSOOnly && !l.BySSO:
		return "the person who authorized it now uses only single sign-on"
	case l.BySSO && !today.SSO:
		return "single sign-on, with which it was authorized, is off"
	case l.BySSO && now.Sub(today.SSOSignedIn) > away:
		return "the person who authorized it has not signed in at their provider recently"
	default:
		return ""
	}
}

// fromBearerOrClient identifies the caller of an Authorization header where clients of members are admitted.
func (s *Service) fromBearerOrClient(r *http.Request) (Actor, error) {
	header := r.Header.Get("Authorization")
	if given := jws.ParseAuthorization(header); secret.IsBearer(secret.MemberBearer, secret.Text(given.Token)) {
		return s.fromMemberToken(r, given)
	}
	return s.FromBearer(r.Context(), header)
}

// fromMemberToken identifies the member that a client acts as. Membership and role are read on each request.
func (s *Service) fromMemberToken(r *http.Request, given jws.PresentedToken) (Actor, error) {
	ctx := r.Context()
	token, ok := secret.ParseBearer(secret.MemberBearer, secret.Text(given.Token))
	if !ok {
		return Actor{}, newBadKeyError("Incomplete token.")
	}
	id := connectors.MemberTokenID{UUID: token.ID}
	t, err := s.store.System().People().MemberToken(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Actor{}, fmt.Errorf("find member token: %w", err)
	}
	if err != nil || s.store.VerifyBearer(ctx, token.Bound(t.Key), t.SecretMAC) != nil {
		return Actor{}, newBadKeyError("Unknown or revoked token.")
	}
	now := s.now()
	if !t.ExpiresAt.After(now) {
		return Actor{}, newBadKeyError("Token expired.")
	}
	if why := s.EndReason(ClientAuthorization{At: t.AuthorizedAt, BySSO: t.BySSO, AsMember: true}, t.Owner, now); why != "" {
		return Actor{}, newBadKeyError("This client's access ended: " + why + ". Have it sign in again.")
	}
	if err := s.checkProof(r, given, t); err != nil {
		return Actor{}, err
	}
	a := newPersonActor(t.UserID, t.Member, nil)
	a.Role = t.Scope.Limit(a.Role)
	a.BySSO = t.BySSO
	a.provenKey = t.Key
	a.Program = &store.ActingClient{ID: t.Client, Name: t.Name, Host: t.Host}
	a.MustEnrolSecondFactor = t.Member.Tenant.SecondFactorRequired && !t.Member.SecondFactor && !t.BySSO
	if t.UsedAt == nil || now.Sub(*t.UsedAt) >= time.Minute {
		if err := s.store.System().People().TouchMemberToken(ctx, id); err != nil {
			s.log.WarnContext(ctx, "client use not recorded", "error", err)
		}
	}
	return requireEnrolled(a, nil)
}

// checkProof verifies the proof of a bound token and records its use. A request that is identified again has used its proof.
func (s *Service) checkProof(r *http.Request, given jws.PresentedToken, t store.StoredMemberToken) error {
	if a, ok := ActorFrom(r.Context()); ok && given.Proves && t.Key != "" && a.provenKey == t.Key {
		return nil
	}
	proof, err := given.Verify(t.Key, r, s.baseURL+r.URL.EscapedPath(), s.now())
	if err != nil || proof == nil {
		return err
	}
	first, err := s.store.Tenant(t.Member.Tenant.ID).Workloads().UseProof(r.Context(), proof.ID[:], proof.ExpiresAt)
	if err == nil && !first {
		err = jws.NewUsedError()
	}
	return err
}
