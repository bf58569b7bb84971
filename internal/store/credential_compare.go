package store

import (
	"context"
	"crypto/subtle"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// HoldsCredential tells whether a connector, or an agent there, has a credential with exactly this secret. One that no key opens is another.
func (t *Tenant) HoldsCredential(ctx context.Context, c connectors.ConnectorID, agent *connectors.AgentID, entered secret.Text) (bool, error) {
	rows, err := t.q.ConnectorSecretStates(ctx, t.id, c)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if (row.AgentID == nil) != (agent == nil) || agent != nil && *row.AgentID != *agent {
			continue
		}
		plain, ok := t.readable(ctx, row.Sealed, credentialPlace(t.id, row.ConnectorID, row.AgentID, row.Origin))
		return ok && equal(plain, entered), nil
	}
	return false, nil
}

// HoldsClientSecret tells whether a connector signs in as its client with exactly this secret. One that no key opens is another.
func (t *Tenant) HoldsClientSecret(ctx context.Context, c connectors.ConnectorID, entered secret.Text) (bool, error) {
	row, err := t.q.ClientSecret(ctx, t.id, c)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	plain, ok := t.readable(ctx, row.Sealed, clientPlace(t.id, row.ConnectorID, row.ClientID, row.Origin, row.Issuer))
	return ok && equal(plain, entered), nil
}

// equal takes as long for texts that differ at their beginning as for those that differ at their end.
func equal(a, b secret.Text) bool {
	return subtle.ConstantTimeCompare([]byte(a.Reveal()), []byte(b.Reveal())) == 1
}
