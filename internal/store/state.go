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

// State is what a thing is, by the names of its columns, for the audit log: what people set, and of secrets their fingerprints. nil: there is
// no such thing.
type State map[string]any

// Subject is a thing that acts change. Its state is read with [Tenant.State].
type Subject func(ctx context.Context, t *Tenant) (State, error)

// Before reads what a thing is before an act, in the act's transaction and before that locks anything: until its end no other act of the tenant
// gets further than here, so that what was is what the act before has left. Who waits here for more than five seconds is told that it is
// busy.
func (t *Tenant) Before(ctx context.Context, of Subject) (State, error) {
	if err := t.q.HoldActs(ctx, t.id.UUID); err != nil {
		return nil, err
	}
	return t.State(ctx, of)
}

// State reads what a thing is now.
func (t *Tenant) State(ctx context.Context, of Subject) (State, error) {
	state, err := of(ctx, t)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return state, err
}

// RecordChange appends to the audit log what an act has left of a thing: was is its state from before, nil where there was none.
func (t *Tenant) RecordChange(ctx context.Context, e Event, was State, of Subject) error {
	is, err := t.State(ctx, of)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Action, err)
	}
	e.Before, e.After = was, is
	return t.Record(ctx, e)
}

// OfTenant are the settings of the tenant itself.
func OfTenant() Subject {
	return func(ctx context.Context, t *Tenant) (State, error) { return stateOf(t.q.TenantState(ctx, t.id)) }
}

// OfUsageMark is from when on the tenant's figures are counted.
func OfUsageMark() Subject {
	return func(ctx context.Context, t *Tenant) (State, error) { return stateOf(t.q.UsageMarkState(ctx, t.id)) }
}

// OfMember is a membership, and whose it is.
func OfMember(id connectors.UserID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) { return stateOf(t.q.MemberState(ctx, t.id, id)) }
}

// OfPassword is the password of a member.
func OfPassword(id connectors.UserID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		hash, err := t.q.PasswordState(ctx, t.id, id)
		if err != nil {
			return nil, err
		}
		return State{}.with(t, "password", secret.Text(hash), id.String())
	}
}

// OfInvitation is an invitation with its link.
func OfInvitation(id connectors.InvitationID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.InvitationState(ctx, t.id, id)
		return t.marked(row.State, err, "link", row.TokenHash, id)
	}
}

// OfAPIKey is an API key.
func OfAPIKey(id connectors.APIKeyID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.APIKeyState(ctx, t.id, id)
		return t.marked(row.State, err, "secret", row.SecretMac, id)
	}
}

// OfAgent are the settings of an agent.
func OfAgent(id connectors.AgentID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) { return stateOf(t.q.AgentState(ctx, t.id, id)) }
}

// OfAgentToken is a token of an agent.
func OfAgentToken(id connectors.AgentTokenID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.AgentTokenState(ctx, t.id, id)
		return t.marked(row.State, err, "secret", row.SecretMac, id)
	}
}

// OfGrant is what an agent may use of a connector.
func OfGrant(agent connectors.AgentID, connector connectors.ConnectorID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return stateOf(t.q.AgentGrantState(ctx, t.id, agent, connector))
	}
}

// OfListening is whether a connector's server is listened to.
func OfListening(id connectors.ConnectorID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		state, err := stateOf(t.q.ListenState(ctx, t.id, id))
		if errors.Is(err, pgx.ErrNoRows) {
			return State{}, nil // nobody has looked yet whether it can be
		}
		return state, err
	}
}

// OfConnectLink is a link with which an account is connected, by its hash.
func OfConnectLink(connector connectors.ConnectorID, hash []byte) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.ConnectLinkState(ctx, t.id, hash)
		return t.marked(row.State, err, "connect_url", row.TokenHash, connector)
	}
}

// OfWebhook is a webhook with its secret. Of its address only the host is told: the rest may be one, too.
func OfWebhook(id connectors.WebhookID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.WebhookState(ctx, t.id, id)
		state, err := stateOf(row.State, err)
		if err != nil {
			return nil, err
		}
		state["host"] = ""
		if u, err := url.Parse(row.Url); err == nil {
			state["host"] = u.Host
		}
		if state, err = state.with(t, "url", secret.Text(row.Url), id.String()); err != nil {
			return nil, err
		}
		return t.webhookPrint(ctx, state, row.Sealed, id)
	}
}

func (t *Tenant) webhookPrint(ctx context.Context, state State, sealed []byte, id connectors.WebhookID) (State, error) {
	plain, ok := t.readable(ctx, sealed, webhookPlace(t.id, id))
	if !ok {
		return state.unreadable("secret"), nil
	}
	s, err := decodeSecrets(plain)
	if err != nil {
		return nil, err
	}
	return state.with(t, "secret", s.Now, id.String())
}

// readable opens a secret, where a key does: what none opens can still be replaced and deleted.
func (t *Tenant) readable(ctx context.Context, sealed []byte, place secret.AD) (plain secret.Text, ok bool) {
	plain, err := t.store.keyring.openWithin(ctx, t.scope, sealed, place)
	return plain, err == nil
}

// stateOf reads a row's state.
func stateOf(row []byte, err error) (State, error) {
	if err != nil {
		return nil, err
	}
	state := State{}
	if err := json.Unmarshal(row, &state); err != nil {
		return nil, fmt.Errorf("read a state: %w", err)
	}
	return state, nil
}

// marked is a row's state with the fingerprint of what recognises a secret that itself is stored nowhere.
func (t *Tenant) marked(row []byte, err error, field string, recognised []byte, id fmt.Stringer) (State, error) {
	state, err := stateOf(row, err)
	if err != nil {
		return nil, err
	}
	return state.with(t, field, secret.Text(recognised), id.String())
}

// printer makes fingerprints. Within a transaction it is one: what was and what is are compared, and a rotation may come between.
func (t *Tenant) printer() *secret.Keyring {
	if t.scope.tx == nil {
		return t.store.Keyring()
	}
	if t.prints == nil {
		t.prints = t.store.Keyring()
	}
	return t.prints
}

// with is the state with a secret's fingerprint.
func (s State) with(t *Tenant, field string, text secret.Text, of ...string) (State, error) {
	mark, err := t.printer().Fingerprint(text, append([]string{t.id.String(), field}, of...)...)
	if err != nil {
		return nil, err
	}
	s[field] = mark
	return s, nil
}

// unreadable says that there is a secret that no key opens.
func (s State) unreadable(field string) State {
	s[field] = "unreadable"
	return s
}
