package authserver

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/url"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/middleware"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// jwtBearer is the grant type of workloads (RFC 7523 section 2.1).
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// maxExchangesPerMinute bounds a workload's exchanges of JWTs. Its jobs may begin together.
const maxExchangesPerMinute = 60

// errWrongAssertion is the answer to any wrong JWT and to an unknown workload. The log has the reason.
func errWrongAssertion() error {
	return invalidGrant("this client_id has no workload for this assertion, or the assertion was used before")
}

// exchangeAssertion issues an access token for a workload's JWT. The client_id is the workload's: a tenant that
// registers the issuer and subject of another's workload gets none of its tokens.
func (s *Server) exchangeAssertion(ctx context.Context, f url.Values, proof *jws.Proof) (tokenResponse, error) {
	if f.Get("assertion") == "" {
		return tokenResponse{}, invalidRequest("the assertion is missing")
	}
	resource, ok := s.parseResource(f.Get("resource"))
	if !ok || resource == adminPath {
		return tokenResponse{}, &oauthError{Code: "invalid_target", Description: "workloads get tokens for the gateway only"}
	}
	uuid, ok := connectors.Ref(f.Get("client_id")).UUID()
	if !ok {
		return tokenResponse{}, errWrongAssertion()
	}
	id := connectors.AgentWorkloadID{UUID: uuid}
	wait, giveBack := s.exchanges.Take(id, s.now())
	if wait > 0 {
		return tokenResponse{}, middleware.NewRateLimitError(wait, "too many token requests of this workload: tokens are valid for an hour")
	}
	given, err := s.decideExchange(ctx, id, f, resource, proof)
	if err != nil {
		giveBack() // a wrong JWT counts against the address and must not consume the workload's rate
	}
	return given, err
}

func (s *Server) decideExchange(ctx context.Context, id connectors.AgentWorkloadID, f url.Values, resource string, proof *jws.Proof) (tokenResponse, error) {
	tenant, w, err := s.store.System().Sessions().Workload(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return tokenResponse{}, err
	}
	a, why, err := s.verifyAssertion(ctx, tenant, w, f.Get("assertion"))
	switch {
	case err != nil:
		return tokenResponse{}, err
	case why != "":
		if w.ID == id {
			s.log.InfoContext(ctx, "assertion refused", slog.String("tenant", tenant.String()), slog.String("workload", id.String()), slog.String("reason", why))
		}
		return tokenResponse{}, errWrongAssertion()
	}
	if !a.confirmation.permitsProof(proof) {
		s.log.InfoContext(ctx, "assertion refused", slog.String("tenant", tenant.String()), slog.String("workload", id.String()), slog.String("reason", "bound to another key"))
		return tokenResponse{}, errWrongAssertion()
	}
	a.proof = proof
	given, refused, err := s.redeemAssertion(ctx, tenant, w, a, resource)
	switch {
	case fault.Is(err, fault.NotFound): // the workload has just been removed
		return tokenResponse{}, errWrongAssertion()
	case err != nil:
		return tokenResponse{}, err
	case refused == nil:
		return given, nil
	}
	// Stored even if the caller disconnects: it may be an attacker.
	if err := s.recordReplay(context.WithoutCancel(ctx), tenant, w, *refused); err != nil {
		return tokenResponse{}, err
	}
	return tokenResponse{}, errWrongAssertion()
}

// refusedUse is a use of a JWT that was used before.
type refusedUse struct {
	agent   string // slug
	earlier store.AssertionUse
}

// redeemAssertion records the use of a JWT and issues its token in one transaction. A JWT stands for one token: a
// repetition within seconds, after a lost response, replaces it. Any other use is refused.
func (s *Server) redeemAssertion(
	ctx context.Context, tenant connectors.TenantID, w connectors.Workload, a assertion, resource string,
) (given tokenResponse, refused *refusedUse, err error) {
	id := store.NewAgentTokenID()
	key := keyOf(a.proof)
	if key != "" { // a repetition has the same key
		a.hash = sha256.Sum256(append(a.hash[:], key...))
	}
	token := secret.NewBearer(secret.AgentBearer, id.UUID).Bound(key)
	mac, err := s.store.Keyring().SignBearer(token)
	if err != nil {
		return given, nil, err
	}
	var wrongProof *oauthError
	err = s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		refused = nil
		locked, err := tx.Workloads().Lock(ctx, w.ID)
		if err != nil {
			return err
		}
		if wrongProof, err = useProof(ctx, tx, a.proof, false); err != nil || wrongProof != nil {
			return err
		}
		use := store.AssertionUse{Digest: a.digest[:], Hash: a.hash[:], Workload: w.ID, Token: id, At: locked.Now, ExpiresAt: a.expiresAt}
		earlier, err := tx.Workloads().UseAssertion(ctx, use)
		switch {
		case err != nil:
			return err
		case earlier != nil && !earlier.IsRepeat(use, replayGrace):
			refused = &refusedUse{agent: locked.AgentSlug, earlier: *earlier}
			return nil
		case earlier != nil:
			if err := tx.Workloads().ReplaceAssertionToken(ctx, *earlier, id); err != nil {
				return err
			}
		}
		return tx.Workloads().CreateToken(ctx, w.ID, store.ClientToken{
			ID: id, Prefix: token.Prefix(), SecretMAC: mac, ExpiresAt: locked.Now.Add(accessLife), Key: key,
		}, resource)
	})
	if err == nil && wrongProof != nil {
		err = wrongProof
	}
	if err != nil || refused != nil {
		return given, refused, err
	}
	return tokenResponse{Access: token.Text().Reveal(), Type: tokenType(key), ExpiresIn: int(accessLife.Seconds()), Scope: Scope}, nil, nil
}

// recordReplay audits the refusal of a used JWT, once for each: a caller could repeat it without end.
func (s *Server) recordReplay(ctx context.Context, tenant connectors.TenantID, w connectors.Workload, r refusedUse) error {
	return s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		first, err := tx.Workloads().RefuseAssertion(ctx, r.earlier)
		if err != nil || !first {
			return err
		}
		return tx.Audit().Record(ctx, store.Event{
			ActorType: "system", ActorName: "Patchbay", Action: "agent_workload.refuse", Target: r.agent, Detail: workloadDetail(w),
		})
	})
}

// workloadDetail is what the audit log says of a workload.
func workloadDetail(w connectors.Workload) map[string]any {
	return map[string]any{"agent_id": w.AgentID.String(), "workload_id": w.ID.String(), "name": w.Name, "issuer": w.Issuer, "subject": w.Subject}
}
