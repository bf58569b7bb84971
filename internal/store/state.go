package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// State is an object's audited state by column name: settings, and fingerprints of secrets. nil: no such
// object.
type State map[string]any

// StateReader reads the state of an object that actions change.
type StateReader func(ctx context.Context, t *Tenant) (State, error)

// LockAndReadState reads an object's state at the start of an action's transaction, before it locks anything else. It
// serializes the tenant's actions until the transaction ends, so Before matches the previous After. After five
// seconds it fails as busy.
func (t *Tenant) LockAndReadState(ctx context.Context, of StateReader) (State, error) {
	if err := t.q.LockAuditedActions(ctx, t.id.UUID); err != nil {
		return nil, err
	}
	return t.State(ctx, of)
}

// State reads an object's current state.
func (t *Tenant) State(ctx context.Context, of StateReader) (State, error) {
	state, err := of(ctx, t)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return state, err
}

// RecordChange appends an action's audit entry with the state before, nil for none, and the current state of
// its object.
func (t *Tenant) RecordChange(ctx context.Context, e Event, was State, of StateReader) error {
	is, err := t.State(ctx, of)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Action, err)
	}
	e.Before, e.After = was, is
	return t.Audit().Record(ctx, e)
}

// OfTenant is the tenant's settings.
func OfTenant() StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.TenantState(ctx, t.id)) }
}

// OfUsageMark is the start of the tenant's figures.
func OfUsageMark() StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.UsageMarkState(ctx, t.id)) }
}

// OfMember is a membership with its person.
func OfMember(id connectors.UserID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.MemberState(ctx, t.id, id)) }
}

// OfPassword is a member's password.
func OfPassword(id connectors.UserID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		hash, err := t.q.PasswordState(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		return State{}.withFingerprint(t, "password", secret.Text(hash), id.String())
	}
}

// OfInvitation is an invitation with its link.
func OfInvitation(id connectors.InvitationID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.InvitationState(ctx, t.id, id)
		return t.readMACState(row.State, err, "link", row.TokenHash, id)
	}
}

// OfAccessRequest is a request for access.
func OfAccessRequest(id connectors.AccessRequestID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.AccessRequestState(ctx, t.id, id))
	}
}

// OfAPIKey is an API key.
func OfAPIKey(id connectors.APIKeyID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.APIKeyState(ctx, t.id, id)
		return t.readMACState(row.State, err, "secret", row.SecretMac, id)
	}
}

// OfAgent is the settings of an agent.
func OfAgent(id connectors.AgentID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.AgentState(ctx, t.id, id)) }
}

// OfAgentToken is a token of an agent.
func OfAgentToken(id connectors.AgentTokenID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.AgentTokenState(ctx, t.id, id)
		return t.readMACState(row.State, err, "secret", row.SecretMac, id)
	}
}

// OfWorkload is a workload of an agent.
func OfWorkload(id connectors.AgentWorkloadID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.WorkloadState(ctx, t.id, id)) }
}

// OfGrant is an agent's grant for a connector.
func OfGrant(agent connectors.AgentID, connector connectors.ConnectorID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.AgentGrantState(ctx, t.id, agent, connector))
	}
}

// OfVanished is the number of a connector's vanished tools.
func OfVanished(id connectors.ConnectorID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) { return toState(t.q.VanishedState(ctx, t.id, id)) }
}

// OfListening is whether a connector's notifications are listened to.
func OfListening(id connectors.ConnectorID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		state, err := toState(t.q.ListenState(ctx, t.id, id))
		if errors.Is(err, pgx.ErrNoRows) {
			return State{}, nil // not reviewed yet
		}
		return state, err
	}
}

// OfConnectLink is a link to connect an account, by its hash.
func OfConnectLink(connector connectors.ConnectorID, hash []byte) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.ConnectLinkState(ctx, t.id, hash)
		return t.readMACState(row.State, err, "connect_url", row.TokenHash, connector)
	}
}

// OfWebhook is a webhook with its secret's fingerprint. Of its URL only the host is recorded: the rest may be
// secret.
func OfWebhook(id connectors.WebhookID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.WebhookState(ctx, t.id, id)
		state, err := toState(row.State, err)
		if err != nil {
			return nil, err
		}
		state["host"] = ""
		if u, err := url.Parse(row.Url); err == nil {
			state["host"] = u.Host
		}
		if state, err = state.withFingerprint(t, "url", secret.Text(row.Url), id.String()); err != nil {
			return nil, err
		}
		return t.addWebhookFingerprint(ctx, state, row.Sealed, id)
	}
}

// OfRegistry is a registry with its address's fingerprint.
func OfRegistry(id connectors.RegistryID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.RegistryState(ctx, t.id, id)
		return t.readMACState(row.State, err, "address", row.AddressHash, id)
	}
}

func (t *tenant) addWebhookFingerprint(ctx context.Context, state State, sealed []byte, id connectors.WebhookID) (State, error) {
	plain, ok := t.openIfReadable(ctx, sealed, webhookSecretAD(t.id, id))
	if !ok {
		return state.withUnreadable("secret"), nil
	}
	s, err := decodeSecrets(plain)
	if err != nil {
		return nil, err
	}
	return state.withFingerprint(t.asTenant(), "secret", s.Now, id.String())
}

// openIfReadable opens a secret; ok is false if no key does. Such a secret can still be replaced and deleted.
func (t *tenant) openIfReadable(ctx context.Context, sealed []byte, place secret.AD) (plain secret.Text, ok bool) {
	plain, err := t.store.keyring.openWithin(ctx, t.scope, sealed, place)
	return plain, err == nil
}

// toState decodes a row's state.
func toState(row []byte, err error) (State, error) {
	if err != nil {
		return nil, err
	}
	state := State{}
	if err := json.Unmarshal(row, &state); err != nil {
		return nil, fmt.Errorf("read a state: %w", err)
	}
	return state, nil
}

// readMACState decodes a row's state and adds the fingerprint of a stored MAC, for secrets that are stored
// nowhere.
func (t *tenant) readMACState(row []byte, err error, field string, recognised []byte, id fmt.Stringer) (State, error) {
	state, err := toState(row, err)
	if err != nil {
		return nil, err
	}
	return state.withFingerprint(t.asTenant(), field, secret.Text(recognised), id.String())
}

// fingerprinter returns the keyring for fingerprints. It is fixed within a transaction: states are compared,
// and a rotation may come between.
func (t *tenant) fingerprinter() *secret.Keyring {
	if t.scope.tx == nil {
		return t.store.Keyring()
	}
	if t.fingerprintKeys == nil {
		t.fingerprintKeys = t.store.Keyring()
	}
	return t.fingerprintKeys
}

// withFingerprint adds a secret's fingerprint.
func (s State) withFingerprint(t *Tenant, field string, text secret.Text, of ...string) (State, error) {
	mark, err := t.fingerprinter().Fingerprint(text, append([]string{t.id.String(), field}, of...)...)
	if err != nil {
		return nil, err
	}
	s[field] = mark
	return s, nil
}

// withUnreadable marks a secret that no key opens.
func (s State) withUnreadable(field string) State {
	s[field] = "unreadable"
	return s
}
