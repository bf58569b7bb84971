package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// ConnectorSecrets opens all secrets of a connector, to find them in what its servers say: credentials of all agents,
// tokens, the environment and the client's secret, with the secrets of the tenant's registered clients. User names and
// client ids are left out, except a user name without a password.
func (v *Vault) ConnectorSecrets(ctx context.Context, id connectors.ConnectorID) ([]secret.Text, error) {
	rows, err := v.q.ConnectorSecrets(ctx, v.id, id)
	if err != nil {
		return nil, err
	}
	var all []secret.Text
	for _, row := range rows {
		opened, err := v.openConnectorSecret(id, row)
		if err != nil {
			return nil, fmt.Errorf("open a secret of connector %s: %w", id, err)
		}
		all = append(all, opened...)
	}
	return all, nil
}

func (v *Vault) openConnectorSecret(id connectors.ConnectorID, row dbgen.ConnectorSecretsRow) ([]secret.Text, error) {
	place := credentialAD(v.id, accountPlace{id, row.AgentID, row.AccountName, row.Place})
	switch row.Kind {
	case "environment":
		place = environmentAD(v.id, id, row.Place)
	case "client":
		place = clientSecretAD(v.id, id, row.ClientID, row.Place, row.Issuer)
	case "registration":
		place = registrationAD(v.id, row.Issuer, row.Place, row.ClientID)
	}
	plain, err := v.keyring.Open(row.Sealed, place)
	if err != nil || row.Kind == "client" || row.Kind == "registration" {
		return []secret.Text{plain}, err
	}
	return secretMembers(plain, row.Kind == "environment")
}

// secretMembers returns the values of an environment, or the secret ones of a credential.
func secretMembers(plain secret.Text, isEnvironment bool) ([]secret.Text, error) {
	var members map[string]string
	if json.Unmarshal([]byte(plain.Reveal()), &members) != nil { // the cause could quote the secret
		return nil, errors.New("a stored secret is not an object of strings")
	}
	var all []secret.Text
	for name, value := range members {
		isName := name == "client_id" || name == "username" && members["password"] != ""
		if isEnvironment || !isName {
			all = append(all, secret.Text(value))
		}
	}
	return all, nil
}
