package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ClaimDomain notes that the tenant says a domain is its own, with what proves it. One that it has claimed already keeps its proof.
func (t *Tenant) ClaimDomain(ctx context.Context, domain, proof string) error {
	_, err := t.q.ClaimSSODomain(ctx, t.id, domain, proof)
	return err
}

// VerifyDomain notes that a domain that the tenant has claimed is its own. It is a Conflict where another tenant has proven the same.
func (t *Tenant) VerifyDomain(ctx context.Context, domain string, by connectors.DomainProof) error {
	n, err := t.q.VerifySSODomain(ctx, new(string(by)), t.id, clean(domain))
	return touched(n, err, "domain")
}

// ReleaseDomain forgets that the tenant has claimed a domain.
func (t *Tenant) ReleaseDomain(ctx context.Context, domain string) error {
	n, err := t.q.ReleaseSSODomain(ctx, t.id, clean(domain))
	return touched(n, err, "domain")
}

func ssoDomainOf(r dbgen.SSODomainsRow) connectors.SSODomain {
	return connectors.SSODomain{
		Domain: r.Domain, Proof: r.Proof, CreatedAt: r.CreatedAt.UTC(), VerifiedAt: utc(r.VerifiedAt),
		VerifiedBy: connectors.DomainProof(text(r.VerifiedBy)),
	}
}

// SSOTenant is whose provider people of a domain sign in at: the tenant that has proven that the domain is its own, and has turned
// single sign-on on.
func (s *System) SSOTenant(ctx context.Context, domain string) (connectors.TenantID, error) {
	id, err := s.q.SSOTenant(ctx, clean(domain))
	return id, found(err, "domain")
}
