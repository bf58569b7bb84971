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
	"patchbay/internal/jws"
	"patchbay/internal/middleware"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// tokenResponse is the token endpoint's response (RFC 6749 section 5.1).
type tokenResponse struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Refresh   string `json:"refresh_token,omitempty"` // empty: the client is a workload
	Scope     string `json:"scope"`
}

// tokenDecision is the result of a transaction: a response or an error, and whether the client's access ends.
type tokenDecision struct {
	given   tokenResponse
	refusal *oauthError
	ends    string // why the access ends; empty: it does not
}

func newInvalidGrant(why string) tokenDecision { return tokenDecision{refusal: invalidGrant(why)} }

func newAccessEnd(why string) tokenDecision {
	return tokenDecision{refusal: invalidGrant("expired or revoked: sign in again"), ends: why}
}

// exchangeCode issues tokens for a code.
//
//  1. An unknown code is refused, without further effect.
//  2. A used code was disclosed: the client's access ends.
//  3. Without the proof that it needs it is refused, and stays valid.
//  4. From here on the code is used, whatever else is wrong.
//  5. The code is valid for a minute and for its client, redirect URI, verifier, resource and key.
func (s *Server) exchangeCode(ctx context.Context, f url.Values, proof *jws.Proof) (tokenResponse, error) {
	code, ok := secret.ParseBearer(secret.CodeBearer, secret.Text(f.Get("code")))
	if !ok {
		return tokenResponse{}, invalidGrant("unknown code")
	}
	return s.withLockedClient(ctx, connectors.AgentClientID{UUID: code.ID}, func(tx *store.Tenant, locked store.LockedAgentClient) (tokenDecision, error) {
		if !s.isCode(ctx, code, locked) {
			return newInvalidGrant("unknown code"), nil
		}
		if locked.CodeUsedAt != nil {
			return newAccessEnd("its code was used twice"), nil
		}
		if refused, err := useProof(ctx, tx, proof, locked.NeedsProof || locked.Key != ""); err != nil || refused != nil {
			return tokenDecision{refusal: refused}, err
		}
		if err := tx.Agents().ConsumeCode(ctx, locked.ID, locked.Now); err != nil {
			return tokenDecision{}, err
		}
		if why := s.findMismatch(f, locked); why != "" {
			return newAccessEnd(why), nil
		}
		if locked.Key != "" && locked.Key != proof.Key {
			return newAccessEnd("its code was used with another key"), nil
		}
		return s.issueTokens(ctx, tx, locked, proof, true)
	})
}

// isCode reports whether a code is the client's. Its MAC covers the key that it had before its use.
func (s *Server) isCode(ctx context.Context, code secret.Bearer, locked store.LockedAgentClient) bool {
	return s.verifyBearer(ctx, code.Bound(codeBinding(locked.Key, locked.NeedsProof)), locked.CodeMAC) ||
		locked.Key != "" && s.verifyBearer(ctx, code.Bound(codeBinding("", locked.NeedsProof)), locked.CodeMAC)
}

// findMismatch describes what differs between the request and the code's authorization; empty: nothing.
func (s *Server) findMismatch(f url.Values, locked store.LockedAgentClient) string {
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	resource, ok := s.parseResource(f.Get("resource"))
	switch {
	case !locked.CodeExpiresAt.After(locked.Now):
		return "its code was used too late"
	case f.Get("client_id") != locked.ClientID:
		return "another client used its code"
	case f.Has("redirect_uri") && f.Get("redirect_uri") != locked.RedirectURI: // optional in OAuth 2.1: the verifier binds the code
		return "its code was used with another redirect URI"
	case subtle.ConstantTimeCompare(sum[:], locked.Challenge) != 1:
		return "its code was used with a wrong verifier"
	case f.Has("resource") && (!ok || resource != locked.Resource):
		return "its code was used with another resource"
	default:
		return ""
	}
}

// refreshTokens issues tokens for a refresh token, and a new refresh token.
func (s *Server) refreshTokens(ctx context.Context, f url.Values, proof *jws.Proof) (tokenResponse, error) {
	token, ok := secret.ParseBearer(secret.RefreshBearer, secret.Text(f.Get("refresh_token")))
	if !ok {
		return tokenResponse{}, invalidGrant("unknown refresh token")
	}
	id := connectors.AgentClientID{UUID: token.ID}
	wait, giveBack := s.renewals.Take(id, s.now())
	if wait > 0 {
		return tokenResponse{}, middleware.NewRateLimitError(wait, "too many token refreshes: tokens are valid for an hour")
	}
	given, err := s.decideRefresh(ctx, f, token, proof)
	if err != nil {
		giveBack() // an invalid token counts against the address and must not consume the client's rate
	}
	return given, err
}

func (s *Server) decideRefresh(ctx context.Context, f url.Values, token secret.Bearer, proof *jws.Proof) (tokenResponse, error) {
	return s.withLockedClient(ctx, connectors.AgentClientID{UUID: token.ID}, func(tx *store.Tenant, locked store.LockedAgentClient) (tokenDecision, error) {
		generation, ok, err := s.findGeneration(token, locked)
		if err != nil {
			return tokenDecision{}, err
		}
		resource, known := s.parseResource(f.Get("resource"))
		// A response was lost, or the client sent two requests.
		isRepeat := generation+1 == locked.Generation && locked.Now.Sub(locked.RotatedAt) <= replayGrace
		switch {
		case !ok || generation == 0 || locked.Generation == 0:
			return newInvalidGrant("unknown refresh token"), nil
		case f.Get("client_id") != locked.ClientID:
			return newInvalidGrant("this refresh token belongs to another client"), nil
		case f.Has("resource") && (!known || resource != locked.Resource):
			return tokenDecision{refusal: &oauthError{Code: "invalid_target", Description: "this refresh token is for another resource"}}, nil
		case !locked.ExpiresAt.After(locked.Now):
			return newAccessEnd("it did not refresh its token in time"), nil
		case generation != locked.Generation && !isRepeat: // also without a proof: a thief may have bound the stolen token to another key
			return newAccessEnd("a refresh token was reused, and may be stolen"), nil
		case proof != nil && locked.Key != "" && proof.Key != locked.Key:
			return newInvalidGrant("this refresh token is bound to another key"), nil
		case proof != nil && locked.Key == "" && isRepeat: // else it would bind the token that the first request got
			return tokenDecision{refusal: invalidProof("this refresh token was used without a proof")}, nil
		}
		if refused, err := useProof(ctx, tx, proof, locked.NeedsProof || locked.Key != ""); err != nil || refused != nil {
			return tokenDecision{refusal: refused}, err
		}
		return s.issueTokens(ctx, tx, locked, proof, !isRepeat)
	})
}

// findGeneration returns the generation of a client's refresh token. It may be one from before the client was bound to its key.
func (s *Server) findGeneration(token secret.Bearer, locked store.LockedAgentClient) (generation uint32, ok bool, err error) {
	generation, ok, err = s.store.Keyring().Generation(token, refreshSalt(locked.Salt, locked.Key))
	if ok || err != nil || locked.Key == "" {
		return generation, ok, err
	}
	return s.store.Keyring().Generation(token, locked.Salt)
}

// withLockedClient locks the client's row while fn decides. Ending the access is another transaction: a
// tenant's actions are serialized and must wait before they lock rows.
func (s *Server) withLockedClient(
	ctx context.Context, id connectors.AgentClientID, fn func(*store.Tenant, store.LockedAgentClient) (tokenDecision, error),
) (tokenResponse, error) {
	tenant, err := s.store.System().Sessions().AgentClientTenant(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return tokenResponse{}, invalidGrant("unknown, expired or revoked: sign in again")
	}
	if err != nil {
		return tokenResponse{}, err
	}
	var v tokenDecision
	err = s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		locked, err := tx.Agents().LockClient(ctx, id)
		if err != nil {
			return err
		}
		v, err = fn(tx, locked)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return tokenResponse{}, invalidGrant("unknown, expired or revoked: sign in again")
	case err != nil:
		return tokenResponse{}, err
	case v.ends != "":
		// Stored even if the caller disconnects: it may be an attacker.
		if err := s.endAccess(context.WithoutCancel(ctx), tenant, id, newSystemEnd(v.ends)); err != nil && !fault.Is(err, fault.NotFound) {
			return tokenResponse{}, err
		}
	}
	if v.refusal != nil {
		return tokenResponse{}, v.refusal
	}
	return v.given, nil
}

// issueTokens makes an access token, and the next refresh token, both bound to the key of a proof. The person must still be allowed to
// authorize the client.
func (s *Server) issueTokens(ctx context.Context, tx *store.Tenant, locked store.LockedAgentClient, proof *jws.Proof, rotate bool) (tokenDecision, error) {
	now, generation := locked.Now, locked.Generation
	if why, err := s.findAccessEnd(ctx, tx, locked, now); err != nil || why != "" {
		return newAccessEnd(why), err
	}
	if rotate {
		generation++
		if err := tx.Agents().RotateClient(ctx, locked, now, earlierTime(now.Add(refreshIdle), locked.CreatedAt.Add(refreshLifetime))); err != nil {
			return tokenDecision{}, err
		}
	}
	locked, err := bindClient(ctx, tx, locked, proof)
	if err != nil {
		return tokenDecision{}, err
	}
	refresh, err := s.store.Keyring().RefreshToken(locked.ID.UUID, generation, refreshSalt(locked.Salt, locked.Key))
	if err != nil {
		return tokenDecision{}, err
	}
	access, err := s.createAccessToken(ctx, tx, locked, now.Add(accessLife))
	if err != nil {
		return tokenDecision{}, err
	}
	return tokenDecision{given: tokenResponse{
		Access: access.Text().Reveal(), Type: tokenType(locked.Key), ExpiresIn: int(accessLife.Seconds()), Refresh: refresh.Text().Reveal(),
		Scope: cmp.Or(string(locked.Scope), Scope),
	}}, nil
}

// findAccessEnd returns why a client's access ends, given its person's current state; empty: it does not.
func (s *Server) findAccessEnd(ctx context.Context, tx *store.Tenant, locked store.LockedAgentClient, now time.Time) (string, error) {
	const mayNot = "the person who authorized it lost permission"
	today, err := tx.People().ProgramOwner(ctx, locked.UserID)
	if err != nil {
		return "", err
	}
	asMember := locked.AgentID == nil
	if why := s.auth.EndReason(auth.ClientAuthorization{At: locked.CreatedAt, BySSO: locked.BySSO, AsMember: asMember}, today, now); why != "" {
		return why, nil
	}
	if asMember {
		if locked.Scope.Limit(today.Role) == "" {
			return mayNot, nil
		}
		return "", nil
	}
	if ok, err := canChooseAgent(ctx, tx.Agents(), locked.UserID, today.Role, *locked.AgentID); err != nil || !ok {
		return mayNot, err
	}
	return "", nil
}

// createAccessToken makes an agent's token, or a member token, which the gateway does not accept. It is bound to the client's key.
func (s *Server) createAccessToken(ctx context.Context, tx *store.Tenant, locked store.LockedAgentClient, until time.Time) (secret.Bearer, error) {
	if locked.AgentID == nil {
		id := store.NewMemberTokenID()
		token := secret.NewBearer(secret.MemberBearer, id.UUID).Bound(locked.Key)
		mac, err := s.store.Keyring().SignBearer(token)
		if err != nil {
			return secret.Bearer{}, err
		}
		return token, tx.People().CreateMemberToken(ctx, locked.ID, store.MemberToken{ID: id, SecretMAC: mac, ExpiresAt: until, Key: locked.Key})
	}
	id := store.NewAgentTokenID()
	token := secret.NewBearer(secret.AgentBearer, id.UUID).Bound(locked.Key)
	mac, err := s.store.Keyring().SignBearer(token)
	if err != nil {
		return secret.Bearer{}, err
	}
	return token, tx.Agents().CreateClientToken(ctx, locked.ID, store.ClientToken{ID: id, Prefix: token.Prefix(), SecretMAC: mac, ExpiresAt: until, Key: locked.Key})
}

func earlierTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
