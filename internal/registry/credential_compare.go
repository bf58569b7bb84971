package registry

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// CompareCredential tells whether the stored secret of a connector, or that of one agent for it, is s. Who asks knows s already and learns one
// bit, which is on record like every reading of a secret; wrong ones are answered so often and no more.
func (r *Registry) CompareCredential(
	ctx context.Context, a auth.Actor, connector connectors.Ref, agent *connectors.Ref, s connectors.Secret,
) (same bool, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return false, err
	}
	s = s.Normalized()
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		at, err := findOwner(ctx, tx, connector, agent)
		if err != nil {
			return err
		}
		if err := at.mayHold(s); err != nil {
			return err
		}
		if err := r.guesses.allowed(at.place()); err != nil {
			return err
		}
		if same, err = at.holds(ctx, tx, s); err != nil {
			return err
		}
		if !same {
			r.guesses.wrong(at.place())
		}
		e := at.event(a, "credential.compare")
		e.Detail["same"] = same
		return tx.Record(ctx, e)
	})
	return same, err
}

// place is where the credential is, for whoever counts.
func (o owner) place() place {
	p := place{connector: o.connector.ID}
	if o.agent != nil {
		p.agent = o.agent.ID
	}
	return p
}

// holds tells whether s is what is stored.
func (o owner) holds(ctx context.Context, tx *store.Tenant, s connectors.Secret) (bool, error) {
	if o.connector.Auth.Type == connectors.AuthOAuth2 {
		return tx.HoldsClientSecret(ctx, o.connector.ID, s.ClientSecret)
	}
	entered, err := s.Encode()
	if err != nil {
		return false, err
	}
	return tx.HoldsCredential(ctx, o.connector.ID, o.agentID(), entered)
}
