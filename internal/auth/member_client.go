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

// awayFor is for how long a program that is an agent keeps its access without its person signing in at their provider. Whoever acts as the
// person keeps it as long as a session lasts.
const awayFor = 30 * 24 * time.Hour

// LetIn is how somebody let a program in.
type LetIn struct {
	At       time.Time
	BySSO    bool // they had signed in at the tenant's own provider
	AsMember bool // it acts as them
}

// WhyOver says why a program has lost its access by how its person stands today; empty: it has not. What would end a session of theirs ends a
// program that acts as them; and whoever has to sign in at a provider, which is where people are shut out, keeps no program that they let in
// otherwise, nor one for long that they do not sign in for again.
func (s *Service) WhyOver(l LetIn, today store.ProgramStanding, now time.Time) string {
	away := awayFor
	if l.AsMember {
		away = s.lifetime
	}
	switch {
	case l.AsMember && !l.At.After(today.SignedOut):
		return "the person who let it in was signed out everywhere"
	case today.SSOOnly && !l.BySSO:
		return "the person who let it in signs in by single sign-on alone now"
	case l.BySSO && !today.SSO:
		return "single sign-on, by which it was let in, is turned off"
	case l.BySSO && now.Sub(today.SSOSignedIn) > away:
		return "the person who let it in has not signed in at their provider for long"
	default:
		return ""
	}
}

// fromProgram establishes who sent an Authorization header at a door that programs of members use, too.
func (s *Service) fromProgram(ctx context.Context, header string) (Actor, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if text := secret.Text(strings.TrimSpace(token)); strings.EqualFold(scheme, "Bearer") && secret.IsBearer(secret.MemberBearer, text) {
		return s.fromMemberToken(ctx, text)
	}
	return s.FromBearer(ctx, header)
}

// fromMemberToken establishes the member as whom a program acts. Who that is today, and what they may, is read anew each time.
func (s *Service) fromMemberToken(ctx context.Context, text secret.Text) (Actor, error) {
	token, ok := secret.ParseBearer(secret.MemberBearer, text)
	if !ok {
		return Actor{}, badKey("This is not a whole token.")
	}
	id := connectors.MemberTokenID{UUID: token.ID}
	t, err := s.store.System().MemberToken(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Actor{}, fmt.Errorf("find member token: %w", err)
	}
	if err != nil || s.store.VerifyBearer(ctx, token, t.SecretMAC) != nil {
		return Actor{}, badKey("This token is not known, or was ended.")
	}
	now := s.now()
	if !t.ExpiresAt.After(now) {
		return Actor{}, badKey("This token has expired.")
	}
	if why := s.WhyOver(LetIn{At: t.LetIn, BySSO: t.BySSO, AsMember: true}, t.Standing, now); why != "" {
		return Actor{}, badKey("This program's access is over: " + why + ". Have it sign in anew.")
	}
	a := person(t.UserID, t.Member, nil)
	a.Role = t.Scope.Limit(a.Role)
	a.BySSO = t.BySSO
	a.Program = &store.Program{ID: t.Client, Name: t.Name, Host: t.Host}
	a.EnrolFirst = t.Member.Tenant.SecondFactorRequired && !t.Member.SecondFactor && !t.BySSO
	if t.UsedAt == nil || now.Sub(*t.UsedAt) >= time.Minute {
		if err := s.store.System().TouchMemberToken(ctx, id); err != nil {
			s.log.WarnContext(ctx, "use of a program not noted", "error", err)
		}
	}
	return enrolled(a, nil)
}
