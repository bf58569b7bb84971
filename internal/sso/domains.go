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
	maxDomains    = 50
	lookupTimeout = 10 * time.Second
)

var domainForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)

// Claim claims an e-mail domain for the actor's tenant. A claim has no effect before verification, and is not
// exclusive.
func (s *Service) Claim(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	domain = normalizeDomain(domain)
	if !domainForm.MatchString(domain) || len(domain) > 253 {
		return fault.InvalidFields(fault.Field{Location: "domain", Message: "Enter what follows the @ in your email addresses, like acme.example."})
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		now, err := tx.SSO().Lock(ctx)
		if err != nil {
			return err
		}
		if len(now.Domains) >= maxDomains && was == nil {
			return fault.InvalidFields(fault.Field{Location: "domain", Message: "At most 50 domains. Release one first."})
		}
		if err := tx.SSO().ClaimDomain(ctx, domain, "patchbay-verify="+rand.Text()); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.claim_domain", domain), was, store.OfDomain(domain))
	})
}

// Verify looks up the TXT record of a claimed domain. The lookup comes first: only a tenant with proof learns
// that another has verified the domain.
func (s *Service) Verify(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	claimed, err := s.findClaimed(ctx, a, domain)
	if err != nil || claimed.VerifiedAt != nil {
		return err
	}
	if err := s.lookUpProof(ctx, claimed); err != nil {
		return err
	}
	return s.storeVerified(ctx, a, claimed.Domain, connectors.ProofDNS)
}

// Vouch verifies a domain on the operator's word, for networks without public DNS.
func (s *Service) Vouch(ctx context.Context, a auth.Actor, domain string) error {
	if a.Kind != auth.KindOperator {
		return fault.Errorf(fault.Denied, "Only the operator can do this.")
	}
	if err := s.Claim(ctx, a, domain); err != nil {
		return err
	}
	return s.storeVerified(ctx, a, normalizeDomain(domain), connectors.ProofOperator)
}

// Release deletes the claim of a domain: its addresses no longer sign in.
func (s *Service) Release(ctx context.Context, a auth.Actor, domain string) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	domain = normalizeDomain(domain)
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		now, err := tx.SSO().Lock(ctx)
		if err != nil {
			return err
		}
		left := now
		left.Domains = slices.DeleteFunc(slices.Clone(now.Domains), func(d connectors.SSODomain) bool { return d.Domain == domain })
		if now.Enabled && hasDomain(now) && !hasDomain(left) {
			return fault.Errorf(fault.Conflict, "This is the last domain. Turn single sign-on off first.")
		}
		if err := tx.SSO().ReleaseDomain(ctx, domain); err != nil {
			return err
		}
		if err := tx.People().EndSSOSessions(ctx); err != nil { // some belong to its addresses
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.release_domain", domain), was, store.OfDomain(domain))
	})
}

func (s *Service) storeVerified(ctx context.Context, a auth.Actor, domain string, by connectors.DomainProof) error {
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfDomain(domain))
		if err != nil {
			return err
		}
		if err := tx.SSO().VerifyDomain(ctx, domain, by); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.verify_domain", domain), was, store.OfDomain(domain))
	})
}

func (s *Service) findClaimed(ctx context.Context, a auth.Actor, domain string) (connectors.SSODomain, error) {
	now, err := s.store.Tenant(a.Tenant.ID).SSO().Get(ctx)
	if err != nil {
		return connectors.SSODomain{}, err
	}
	for _, d := range now.Domains {
		if d.Domain == normalizeDomain(domain) {
			return d, nil
		}
	}
	return connectors.SSODomain{}, fault.Errorf(fault.NotFound, "No such domain.")
}

func (s *Service) lookUpProof(ctx context.Context, d connectors.SSODomain) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	host := connectors.ProofHost(d.Domain)
	records, err := s.lookupTXT(ctx, host+".") // trailing dot: no search domain of the machine
	if slices.Contains(records, d.Proof) {
		return nil
	}
	if failure, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !failure.IsNotFound) {
		return fault.Errorf(fault.Upstream, "The name %s couldn't be looked up. Try again in a minute.", host)
	}
	if len(records) > 0 {
		return fault.Errorf(fault.Conflict, "The TXT record of %s doesn't match. Copy the text below into it; DNS changes can take a while.", host)
	}
	return fault.Errorf(fault.Conflict, "%s has no TXT record yet. Add the text below; DNS changes can take a while.", host)
}

func normalizeDomain(domain string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(domain)), "@"), ".")
}
