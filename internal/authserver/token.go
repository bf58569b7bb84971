package authserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/url"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// tokens is the answer of the token endpoint (RFC 6749 §5.1).
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Refresh   string `json:"refresh_token"`
	Scope     string `json:"scope"`
}

// verdict is what a transaction has found: an answer, or why there is none, and whether the program's access ends for it.
type verdict struct {
	given   tokens
	refusal *refusal
	ends    string // why the program's access ends; empty: it does not
}

func refused(why string) verdict { return verdict{refusal: invalidGrant(why)} }

func ended(why string) verdict {
	return verdict{refusal: invalidGrant("it is not good any more: sign in again"), ends: why}
}

// exchange gives tokens for a code.
//
//  1. A code that was never given out says nothing about anybody's: it is refused, and that is all.
//  2. One that was shown before is in two hands: all that came of it ends.
//  3. From here on it is spent, whatever else is wrong with the request.
//  4. It is good for its minute, program, redirect URI, verifier and resource alone.
func (s *Server) exchange(ctx context.Context, f url.Values) (tokens, error) {
	code, ok := secret.ParseBearer(secret.CodeBearer, secret.Text(f.Get("code")))
	if !ok {
		return tokens{}, invalidGrant("this is no code of ours")
	}
	return s.decide(ctx, connectors.AgentClientID{UUID: code.ID}, func(tx *store.Tenant, held store.HeldAgentClient) (verdict, error) {
		if !s.verified(ctx, code, held.CodeMAC) {
			return refused("this is no code of ours"), nil
		}
		if held.CodeUsedAt != nil {
			return ended("its code was used twice"), nil
		}
		if err := tx.SpendCode(ctx, held.ID, held.Now); err != nil {
			return verdict{}, err
		}
		if why := s.misfit(f, held); why != "" {
			return ended(why), nil
		}
		return s.give(ctx, tx, held, true)
	})
}

// misfit says what of a request is not what the code was given out for; empty: nothing.
func (s *Server) misfit(f url.Values, held store.HeldAgentClient) string {
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	resource, ok := s.resource(f.Get("resource"))
	switch {
	case !held.CodeExpiresAt.After(held.Now):
		return "its code was used too late"
	case f.Get("client_id") != held.ClientID:
		return "another client showed its code"
	case f.Has("redirect_uri") && f.Get("redirect_uri") != held.RedirectURI: // OAuth 2.1 leaves it out: the verifier binds the code
		return "its code was shown for another redirect URI"
	case subtle.ConstantTimeCompare(sum[:], held.Challenge) != 1:
		return "its code was shown without the right verifier"
	case f.Has("resource") && (!ok || resource != held.Resource):
		return "its code was shown for another resource"
	default:
		return ""
	}
}

// refresh gives tokens for a refresh token, and another one of those.
func (s *Server) refresh(ctx context.Context, f url.Values) (tokens, error) {
	token, ok := secret.ParseBearer(secret.RefreshBearer, secret.Text(f.Get("refresh_token")))
	if !ok {
		return tokens{}, invalidGrant("this is no refresh token of ours")
	}
	id := connectors.AgentClientID{UUID: token.ID}
	wait, giveBack := s.renewals.Take(id, s.now())
	if wait > 0 {
		return tokens{}, middleware.TooSoon(wait, "this program renews its tokens again and again: they are good for an hour")
	}
	given, err := s.renewed(ctx, f, id, token)
	if err != nil {
		giveBack() // whoever guesses counts against their address, and keeps no program from its renewals
	}
	return given, err
}

func (s *Server) renewed(ctx context.Context, f url.Values, id connectors.AgentClientID, token secret.Bearer) (tokens, error) {
	return s.decide(ctx, id, func(tx *store.Tenant, held store.HeldAgentClient) (verdict, error) {
		generation, ok, err := s.store.Keyring().Generation(token, held.Salt)
		if err != nil {
			return verdict{}, err
		}
		resource, known := s.resource(f.Get("resource"))
		switch {
		case !ok || generation == 0 || held.Generation == 0:
			return refused("this is no refresh token of ours"), nil
		case f.Get("client_id") != held.ClientID:
			return refused("this refresh token is another client's"), nil
		case f.Has("resource") && (!known || resource != held.Resource):
			return verdict{refusal: &refusal{Code: "invalid_target", Says: "this refresh token is for another resource"}}, nil
		case !held.ExpiresAt.After(held.Now):
			return ended("it did not renew its token in time"), nil
		case generation == held.Generation:
			return s.give(ctx, tx, held, true)
		case generation+1 == held.Generation && held.Now.Sub(held.RotatedAt) <= grace:
			return s.give(ctx, tx, held, false) // the answer was lost, or two of the program's hands asked at once
		default:
			return ended("a refresh token was used again, which may be stolen"), nil
		}
	})
}

// decide holds a program's row while fn looks at it. Where its access ends, that is another transaction: acts of a tenant come one after the
// other, and wait for each other before they hold anything.
func (s *Server) decide(
	ctx context.Context, id connectors.AgentClientID, fn func(*store.Tenant, store.HeldAgentClient) (verdict, error),
) (tokens, error) {
	tenant, err := s.store.System().AgentClientTenant(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return tokens{}, invalidGrant("it is not known, or not good any more: sign in again")
	}
	if err != nil {
		return tokens{}, err
	}
	var v verdict
	err = s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		held, err := tx.HoldAgentClient(ctx, id)
		if err != nil {
			return err
		}
		v, err = fn(tx, held)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return tokens{}, invalidGrant("it is not known, or not good any more: sign in again")
	case err != nil:
		return tokens{}, err
	case v.ends != "":
		// Kept even if the caller hangs up: it may be the thief.
		if err := s.end(context.WithoutCancel(ctx), tenant, id, system(v.ends)); err != nil && !fault.Is(err, fault.NotFound) {
			return tokens{}, err
		}
	}
	if v.refusal != nil {
		return tokens{}, v.refusal
	}
	return v.given, nil
}

// give makes an access token, and the refresh token that counts from now on. Whoever has let the program in must still be somebody who may.
func (s *Server) give(ctx context.Context, tx *store.Tenant, held store.HeldAgentClient, rotate bool) (verdict, error) {
	now, generation := held.Now, held.Generation
	if why, err := s.over(ctx, tx, held, now); err != nil || why != "" {
		return ended(why), err
	}
	if rotate {
		generation++
		if err := tx.RotateAgentClient(ctx, held, now, earlier(now.Add(lineLife), held.CreatedAt.Add(lineMost))); err != nil {
			return verdict{}, err
		}
	}
	refresh, err := s.store.Keyring().RefreshToken(held.ID.UUID, generation, held.Salt)
	if err != nil {
		return verdict{}, err
	}
	access, err := s.access(ctx, tx, held, now.Add(accessLife))
	if err != nil {
		return verdict{}, err
	}
	return verdict{given: tokens{
		Access: access.Text().Reveal(), Type: "Bearer", ExpiresIn: int(accessLife.Seconds()), Refresh: refresh.Text().Reveal(),
		Scope: cmp.Or(string(held.Scope), Scope),
	}}, nil
}

// over says why a program's access ends by how its person stands today; empty: it does not.
func (s *Server) over(ctx context.Context, tx *store.Tenant, held store.HeldAgentClient, now time.Time) (string, error) {
	const mayNot = "the person who let it in may not any more"
	today, err := tx.ProgramStanding(ctx, held.UserID)
	if err != nil {
		return "", err
	}
	asMember := held.AgentID == nil
	if why := s.auth.WhyOver(auth.LetIn{At: held.CreatedAt, BySSO: held.BySSO, AsMember: asMember}, today, now); why != "" {
		return why, nil
	}
	if asMember {
		if held.Scope.Limit(today.Role) == "" {
			return mayNot, nil
		}
		return "", nil
	}
	if ok, err := mayBe(ctx, tx, held.UserID, today.Role, *held.AgentID); err != nil || !ok {
		return mayNot, err
	}
	return "", nil
}

// access makes an access token: an agent's, or one of a kind of its own, which no door of agents knows.
func (s *Server) access(ctx context.Context, tx *store.Tenant, held store.HeldAgentClient, until time.Time) (secret.Bearer, error) {
	if held.AgentID == nil {
		id := store.NewMemberTokenID()
		token := secret.NewBearer(secret.MemberBearer, id.UUID)
		mac, err := s.store.Keyring().SignBearer(token)
		if err != nil {
			return secret.Bearer{}, err
		}
		return token, tx.CreateMemberToken(ctx, held.ID, store.MemberToken{ID: id, SecretMAC: mac, ExpiresAt: until})
	}
	id := store.NewAgentTokenID()
	token := secret.NewBearer(secret.AgentBearer, id.UUID)
	mac, err := s.store.Keyring().SignBearer(token)
	if err != nil {
		return secret.Bearer{}, err
	}
	return token, tx.CreateClientToken(ctx, held.ID, store.ClientToken{ID: id, Prefix: token.Prefix(), SecretMAC: mac, ExpiresAt: until})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
