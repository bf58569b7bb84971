package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// OfConnector are the settings of a connector, and the fingerprints of all secrets that it has: each agent's, its client's, and each variable
// of its program.
func OfConnector(id connectors.ConnectorID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		state, err := stateOf(t.q.ConnectorState(ctx, t.id, id))
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
			if err := t.tellCredential(ctx, state, field, row); err != nil {
				return nil, err
			}
		}
		if err := t.tellClient(ctx, state, id); err != nil {
			return nil, err
		}
		return state, t.tellEnvironment(ctx, state, id)
	}
}

// OfCredential is a credential of a connector, an entered secret or an account; with agent nil the shared one.
func OfCredential(id connectors.ConnectorID, agent *connectors.AgentID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		rows, err := t.q.ConnectorSecretStates(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		state := State{}
		for _, row := range rows {
			if (row.AgentID == nil) != (agent == nil) || agent != nil && *row.AgentID != *agent {
				continue
			}
			state["type"], state["origin"], state["status"], state["account"], state["scopes"] = row.Type, row.Origin, row.Status, row.Account, row.Scopes
			if err := t.tellCredential(ctx, state, "secret", row); err != nil {
				return nil, err
			}
		}
		if len(state) == 0 {
			return nil, nil
		}
		return state, nil
	}
}

// OfClientSecret is the secret of the client that a connector signs in as.
func OfClientSecret(id connectors.ConnectorID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.ClientSecret(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		return t.clientPrint(ctx, State{"client_id": row.ClientID, "origin": row.Origin}, "secret", row)
	}
}

func (t *Tenant) tellCredential(ctx context.Context, state State, field string, row dbgen.ConnectorSecretStatesRow) error {
	plain, ok := t.readable(ctx, row.Sealed, credentialPlace(t.id, row.ConnectorID, row.AgentID, row.Origin))
	if !ok {
		state.unreadable(field)
		return nil
	}
	owner := "shared"
	if row.AgentID != nil {
		owner = row.AgentID.String()
	}
	_, err := state.withAs(t, field, "credential", plain, row.ConnectorID.String(), owner)
	return err
}

func (t *Tenant) tellClient(ctx context.Context, state State, id connectors.ConnectorID) error {
	row, err := t.q.ClientSecret(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = t.clientPrint(ctx, state, "client_secret", row)
	return err
}

func (t *Tenant) clientPrint(ctx context.Context, state State, field string, row dbgen.ConnectorClient) (State, error) {
	plain, ok := t.readable(ctx, row.Sealed, clientPlace(t.id, row.ConnectorID, row.ClientID, row.Origin, row.Issuer))
	if !ok {
		return state.unreadable(field), nil
	}
	return state.withAs(t, field, "client_secret", plain, row.ConnectorID.String())
}

func (t *Tenant) tellEnvironment(ctx context.Context, state State, id connectors.ConnectorID) error {
	row, err := t.q.Environment(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	plain, ok := t.readable(ctx, row.Sealed, environmentPlace(t.id, id, row.Program))
	if !ok {
		state.unreadable("env")
		return nil
	}
	variables, err := connectors.DecodeEnvironment(plain)
	if err != nil {
		return err
	}
	for name, value := range variables {
		if _, err := state.withAs(t, "env "+name, "env", value, id.String(), name); err != nil {
			return err
		}
	}
	return nil
}

// withAs is with for a field that has one name here and another elsewhere: the same secret has the same fingerprint in both.
func (s State) withAs(t *Tenant, field, kind string, text secret.Text, of ...string) (State, error) {
	mark, err := t.printer().Fingerprint(text, append([]string{t.id.String(), kind}, of...)...)
	if err != nil {
		return nil, err
	}
	s[field] = mark
	return s, nil
}
