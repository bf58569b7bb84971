package sso

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

const (
	maxDomains = 50
	lookupTime = 10 * time.Second
)

var domainForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)

// Claim says that an e-mail domain is the actor's tenant's. It opens nothing before it is verified, and others may claim it as well.
func (s *Service) Claim(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	domain = normalDomain(domain)
	if !domainForm.MatchString(domain) || len(domain) > 253 {
		return fault.InvalidFields(fault.Field{Location: "domain", Message: "This is no domain: write what follows the @ of your addresses, as acme.example."})
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		now, err := tx.LockSSO(ctx)
		if err != nil {
			return err
		}
		if len(now.Domains) >= maxDomains && was == nil {
			return fault.InvalidFields(fault.Field{Location: "domain", Message: "At most 50 domains are kept. Release one first."})
		}
		if err := tx.ClaimDomain(ctx, domain, "patchbay-verify="+rand.Text()); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.claim_domain", domain), was, store.OfDomain(domain))
	})
}

// Verify looks up the TXT record of a domain that the tenant has claimed. The look-up comes first: whether another tenant has the domain
// is told to nobody who has not proven that it is theirs.
func (s *Service) Verify(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	claimed, err := s.claimed(ctx, a, domain)
	if err != nil || claimed.VerifiedAt != nil {
		return err
	}
	if err := s.lookUp(ctx, claimed); err != nil {
		return err
	}
	return s.verified(ctx, a, claimed.Domain, connectors.ProofDNS)
}

// Vouch verifies a domain by the word of whoever runs the installation: where its names are not looked up from here.
func (s *Service) Vouch(ctx context.Context, a auth.Actor, domain string) error {
	if a.Kind != auth.KindOperator {
		return fault.Errorf(fault.Denied, "Only the operator of this server can do that.")
	}
	if err := s.Claim(ctx, a, domain); err != nil {
		return err
	}
	return s.verified(ctx, a, normalDomain(domain), connectors.ProofOperator)
}

// Release gives a domain up: nobody signs in with its addresses any more.
func (s *Service) Release(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	domain = normalDomain(domain)
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		now, err := tx.LockSSO(ctx)
		if err != nil {
			return err
		}
		left := now
		left.Domains = slices.DeleteFunc(slices.Clone(now.Domains), func(d connectors.SSODomain) bool { return d.Domain == domain })
		if now.Enabled && hasDomain(now) && !hasDomain(left) {
			return fault.Errorf(fault.Conflict, "This is the last domain of single sign-on. Turn that off first.")
		}
		if err := tx.ReleaseDomain(ctx, domain); err != nil {
			return err
		}
		if err := tx.EndSSOSessions(ctx); err != nil { // some are of people with its addresses
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.release_domain", domain), was, store.OfDomain(domain))
	})
}

func (s *Service) verified(ctx context.Context, a auth.Actor, domain string, by connectors.DomainProof) error {
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		if err := tx.VerifyDomain(ctx, domain, by); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.verify_domain", domain), was, store.OfDomain(domain))
	})
}

func (s *Service) claimed(ctx context.Context, a auth.Actor, domain string) (connectors.SSODomain, error) {
	now, err := s.store.Tenant(a.Tenant.ID).SSO(ctx)
	if err != nil {
		return connectors.SSODomain{}, err
	}
	for _, d := range now.Domains {
		if d.Domain == normalDomain(domain) {
			return d, nil
		}
	}
	return connectors.SSODomain{}, fault.Errorf(fault.NotFound, "There is no such domain.")
}

func (s *Service) lookUp(ctx context.Context, d connectors.SSODomain) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	host := connectors.ProofHost(d.Domain)
	records, err := s.lookupTXT(ctx, host+".") // with a dot: never below the machine's own domain
	if slices.Contains(records, d.Proof) {
		return nil
	}
	if failure, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !failure.IsNotFound) {
		return fault.Errorf(fault.Upstream, "The name %s could not be looked up. Try again in a minute.", host)
	}
	if len(records) > 0 {
		return fault.Errorf(fault.Conflict, "The TXT record of %s holds something else. Copy the text below into it; a change may take some time to be seen.", host)
	}
	return fault.Errorf(fault.Conflict, "%s has no TXT record yet. Add it with the text below; a change may take some time to be seen.", host)
}

func normalDomain(domain string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(domain)), "@"), ".")
}
