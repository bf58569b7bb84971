package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ClaimDomain stores the tenant's claim of a domain with the expected proof. An existing claim keeps its proof.
func (t SSO) ClaimDomain(ctx context.Context, domain, proof string) error {
	_, err := t.q.ClaimSSODomain(ctx, t.id, domain, proof)
	return err
}

// VerifyDomain marks a claimed domain as verified. It fails with Conflict if another tenant has verified it.
func (t SSO) VerifyDomain(ctx context.Context, domain string, by connectors.DomainProof) error {
	n, err := t.q.VerifySSODomain(ctx, new(string(by)), t.id, cleanText(domain))
	return affectedError(n, err, "domain")
}

// ReleaseDomain deletes the claim of a domain. Members' tokens from token exchange, which may say an address of it, are requested again.
func (t SSO) ReleaseDomain(ctx context.Context, domain string) error {
	n, err := t.q.ReleaseSSODomain(ctx, t.id, cleanText(domain))
	if err := affectedError(n, err, "domain"); err != nil {
		return err
	}
	return t.expireMembersTokens(ctx)
}

func toSSODomain(r dbgen.SSODomainsRow) connectors.SSODomain {
	return connectors.SSODomain{
		Domain: r.Domain, Proof: r.Proof, CreatedAt: r.CreatedAt.UTC(), VerifiedAt: toUTC(r.VerifiedAt),
		VerifiedBy: connectors.DomainProof(textOrEmpty(r.VerifiedBy)),
	}
}

// SignInWays is what the sign-in page of an installation can offer.
type SignInWays struct {
	Owned bool // an organisation has an owner
	SSO   bool // an organisation has single sign-on
}

// SignInWays reads what the sign-in page can offer.
func (s SystemPeople) SignInWays(ctx context.Context) (SignInWays, error) {
	r, err := s.q.SignInWays(ctx)
	return SignInWays{Owned: r.Owned, SSO: r.Sso}, err
}

// SSOTenant returns the tenant that has verified the domain and turned single sign-on on.
func (s SystemPeople) SSOTenant(ctx context.Context, domain string) (connectors.TenantID, error) {
	id, err := s.q.SSOTenant(ctx, cleanText(domain))
	return id, rowError(err, "domain")
}
