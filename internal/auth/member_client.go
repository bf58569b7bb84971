package auth

import (
	"context"
	"fmt"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
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
func (s *Service) fromBearerOrClient(ctx context.Context, header string) (Actor, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if text := secret.Text(strings.TrimSpace(token)); strings.EqualFold(scheme, "Bearer") && secret.IsBearer(secret.MemberBearer, text) {
		return s.fromMemberToken(ctx, text)
	}
	return s.FromBearer(ctx, header)
}

// fromMemberToken identifies the member that a client acts as. Membership and role are read on each request.
func (s *Service) fromMemberToken(ctx context.Context, text secret.Text) (Actor, error) {
	token, ok := secret.ParseBearer(secret.MemberBearer, text)
	if !ok {
		return Actor{}, newBadKeyError("Incomplete token.")
	}
	id := connectors.MemberTokenID{UUID: token.ID}
	t, err := s.store.System().People().MemberToken(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Actor{}, fmt.Errorf("find member token: %w", err)
	}
	if err != nil || s.store.VerifyBearer(ctx, token, t.SecretMAC) != nil {
		return Actor{}, newBadKeyError("Unknown or revoked token.")
	}
	now := s.now()
	if !t.ExpiresAt.After(now) {
		return Actor{}, newBadKeyError("Token expired.")
	}
	if why := s.EndReason(ClientAuthorization{At: t.AuthorizedAt, BySSO: t.BySSO, AsMember: true}, t.Owner, now); why != "" {
		return Actor{}, newBadKeyError("This client's access ended: " + why + ". Have it sign in again.")
	}
	a := newPersonActor(t.UserID, t.Member, nil)
	a.Role = t.Scope.Limit(a.Role)
	a.BySSO = t.BySSO
	a.Program = &store.ActingClient{ID: t.Client, Name: t.Name, Host: t.Host}
	a.MustEnrolSecondFactor = t.Member.Tenant.SecondFactorRequired && !t.Member.SecondFactor && !t.BySSO
	if t.UsedAt == nil || now.Sub(*t.UsedAt) >= time.Minute {
		if err := s.store.System().People().TouchMemberToken(ctx, id); err != nil {
			s.log.WarnContext(ctx, "client use not recorded", "error", err)
		}
	}
	return requireEnrolled(a, nil)
}
