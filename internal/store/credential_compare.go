package store

import (
	"context"
	"crypto/subtle"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// MatchesCredential reports whether the account with a name, empty: the owner's only one, has exactly this secret. It is false if no key opens
// the stored one.
func (t Connectors) MatchesCredential(ctx context.Context, c connectors.ConnectorID, agent *connectors.AgentID, name string, entered secret.Text) (bool, error) {
	rows, err := t.q.ConnectorSecretStates(ctx, t.id, c)
	if err != nil {
		return false, err
	}
	for _, row := range accountsOf(rows, agent, name) {
		plain, ok := t.openIfReadable(ctx, row.Sealed, credentialAD(t.id, accountPlace{row.ConnectorID, row.AgentID, row.Name, row.Origin}))
		return ok && equalSecrets(plain, entered), nil
	}
	return false, nil
}

// HoldsClientSecret reports whether the stored client secret is exactly this one. It is false if no key opens
// the stored one.
func (t Connectors) HoldsClientSecret(ctx context.Context, c connectors.ConnectorID, entered secret.Text) (bool, error) {
	row, err := t.q.ClientSecret(ctx, t.id, c)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	plain, ok := t.openIfReadable(ctx, row.Sealed, clientSecretAD(t.id, row.ConnectorID, row.ClientID, row.Origin, row.Issuer))
	return ok && equalSecrets(plain, entered), nil
}

// equalSecrets compares in constant time.
func equalSecrets(a, b secret.Text) bool {
	return subtle.ConstantTimeCompare([]byte(a.Reveal()), []byte(b.Reveal())) == 1
}
