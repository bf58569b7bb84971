package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// ConnectorState is a connector's settings with fingerprints of its secrets: per agent, client, and environment
// variable.
func ConnectorState(id connectors.ConnectorID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		state, err := toState(t.q.ConnectorState(ctx, t.id, id))
		if err != nil {
			return nil, err
		}
		rows, err := t.q.ConnectorSecretStates(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			field := "credential"
			if row.AgentID != nil {
				field += " of " + row.AgentID.String()
			}
			if row.Name != connectors.DefaultAccount {
				field += " " + row.Name
			}
			if err := t.addCredential(ctx, state, field, row); err != nil {
				return nil, err
			}
		}
		if err := t.addClient(ctx, state, id); err != nil {
			return nil, err
		}
		return state, t.addEnvironment(ctx, state, id)
	}
}

// OfCredential is a connector's credential, a secret or an account; agent nil: the shared one. There are none of several.
func OfCredential(id connectors.ConnectorID, agent *connectors.AgentID) StateReader {
	return OfAccount(id, agent, "")
}

// OfAccount is [OfCredential] for the account with a name; empty: the only one.
func OfAccount(id connectors.ConnectorID, agent *connectors.AgentID, name string) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		rows, err := t.q.ConnectorSecretStates(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		state := State{}
		for _, row := range accountsOf(rows, agent, name) {
			if row.Name != connectors.DefaultAccount {
				state["name"] = row.Name
			}
			state["type"], state["origin"], state["status"], state["account"], state["scopes"] = row.Type, row.Origin, row.Status, row.Account, row.Scopes
			if identity := decodeIdentity(row.Identity); identity != (connectors.Identity{}) {
				state["identity"] = identity
			}
			if err := t.addCredential(ctx, state, "secret", row); err != nil {
				return nil, err
			}
		}
		if len(state) == 0 {
			return nil, nil
		}
		return state, nil
	}
}

// accountsOf returns the owner's account with a name, or its only one if the name is empty: at most one row.
func accountsOf(rows []dbgen.ConnectorSecretStatesRow, agent *connectors.AgentID, name string) []dbgen.ConnectorSecretStatesRow {
	found := slices.DeleteFunc(slices.Clone(rows), func(r dbgen.ConnectorSecretStatesRow) bool {
		isOther := (r.AgentID == nil) != (agent == nil) || agent != nil && *r.AgentID != *agent
		return isOther || name != "" && r.Name != name
	})
	if len(found) > 1 {
		return nil
	}
	return found
}

// OfClientSecret is a connector's client secret.
func OfClientSecret(id connectors.ConnectorID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.ClientSecret(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		return t.addClientFingerprint(ctx, State{"client_id": row.ClientID, "origin": row.Origin}, "secret", row)
	}
}

func (t *tenant) addCredential(ctx context.Context, state State, field string, row dbgen.ConnectorSecretStatesRow) error {
	plain, ok := t.openIfReadable(ctx, row.Sealed, credentialAD(t.id, accountPlace{row.ConnectorID, row.AgentID, row.Name, row.Origin}))
	if !ok {
		state.withUnreadable(field)
		return nil
	}
	owner := "shared"
	if row.AgentID != nil {
		owner = row.AgentID.String()
	}
	if row.Name != connectors.DefaultAccount {
		owner += "+" + row.Name
	}
	_, err := state.withFingerprintAs(t.asTenant(), field, "credential", plain, row.ConnectorID.String(), owner)
	return err
}

func (t *tenant) addClient(ctx context.Context, state State, id connectors.ConnectorID) error {
	row, err := t.q.ClientSecret(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = t.addClientFingerprint(ctx, state, "client_secret", row)
	return err
}

func (t *tenant) addClientFingerprint(ctx context.Context, state State, field string, row dbgen.ConnectorClient) (State, error) {
	plain, ok := t.openIfReadable(ctx, row.Sealed, clientSecretAD(t.id, row.ConnectorID, row.ClientID, row.Origin, row.Issuer))
	if !ok {
		return state.withUnreadable(field), nil
	}
	return state.withFingerprintAs(t.asTenant(), field, "client_secret", plain, row.ConnectorID.String())
}

func (t *tenant) addEnvironment(ctx context.Context, state State, id connectors.ConnectorID) error {
	row, err := t.q.Environment(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	plain, ok := t.openIfReadable(ctx, row.Sealed, environmentAD(t.id, id, row.Program))
	if !ok {
		state.withUnreadable("env")
		return nil
	}
	variables, err := connectors.DecodeEnvironment(plain)
	if err != nil {
		return err
	}
	for name, value := range variables {
		if _, err := state.withFingerprintAs(t.asTenant(), "env "+name, "env", value, id.String(), name); err != nil {
			return err
		}
	}
	return nil
}

// withFingerprintAs is withFingerprint for a field that has another name elsewhere: the same secret has the
// same fingerprint in both.
func (s State) withFingerprintAs(t *Tenant, field, kind string, text secret.Text, of ...string) (State, error) {
	mark, err := t.fingerprinter().Fingerprint(text, append([]string{t.id.String(), kind}, of...)...)
	if err != nil {
		return nil, err
	}
	s[field] = mark
	return s, nil
}
