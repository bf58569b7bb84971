package manage

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// CompareAccount reports whether s is the account's stored secret. Each comparison is audited like a read, because it
// tells the caller one bit. Wrong guesses are limited.
func (r *Registry) CompareAccount(ctx context.Context, a auth.Actor, of AccountRef, s connectors.Secret) (same bool, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return false, err
	}
	s = s.Normalized()
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := findOwner(ctx, tx, of.Connector, of.Agent)
		if err != nil {
			return err
		}
		owner.account = of.Name
		if err := owner.checkSecret(s); err != nil {
			return err
		}
		if err := r.checkCompareLimit(owner.compareKey()); err != nil {
			return err
		}
		if same, err = owner.matchesStored(ctx, tx.Connectors(), s); err != nil {
			return err
		}
		if !same {
			r.compareLimit.Charge(owner.compareKey(), time.Now())
		}
		e := owner.auditEvent(a, "credential.compare")
		e.Detail["same"] = same
		return tx.Audit().Record(ctx, e)
	})
	return same, err
}

// compareKey is the rate limit's key.
func (o credentialOwner) compareKey() credentialKey {
	p := credentialKey{connector: o.connector.ID}
	if o.agent != nil {
		p.agent = o.agent.ID
	}
	return p
}

// matchesStored reports whether s is the stored secret.
func (o credentialOwner) matchesStored(ctx context.Context, tx store.Connectors, s connectors.Secret) (bool, error) {
	if o.connector.Auth.Type == connectors.AuthOAuth2 {
		return tx.HoldsClientSecret(ctx, o.connector.ID, s.ClientSecret)
	}
	entered, err := s.Encode()
	if err != nil {
		return false, err
	}
	return tx.MatchesCredential(ctx, o.connector.ID, o.agentID(), o.account, entered)
}
