package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AccountState selects agents by their credential at a connector.
type AccountState string

// The states. An agent that was not granted the connector misses no credential.
const (
	AccountAny       AccountState = ""
	AccountStored    AccountState = "stored"    // usable or not
	AccountMissing   AccountState = "missing"   // granted, and nothing is stored
	AccountConnected AccountState = "connected" // active
	AccountAttention AccountState = "attention" // not active, or it ends soon
)

// ConnectorAccountFilter selects rows of [Accounts.ConnectorAccounts].
type ConnectorAccountFilter struct {
	Connector connectors.ConnectorID
	State     AccountState
	Query     string             // part of the agent's name or slug; empty: all
	Person    *connectors.UserID // the owner of personal agents; nil: all agents
	EndsSoon  time.Duration      // an account that ends within it needs attention
	Page      Page
}

// ConnectorAccount is an agent with its credential at a connector that requires one per agent.
type ConnectorAccount struct {
	Granted    bool                  // the agent may use the connector
	Credential connectors.Credential // without an id. Status empty: none stored, and the type is the connector's
	EndsAt     *time.Time            // when the account ends soon; nil: it does not, as far as known
}

// IsStored reports whether a credential is stored, usable or not.
func (a ConnectorAccount) IsStored() bool { return a.Credential.Status != "" }

// ConnectorAccounts lists the agents with their credentials at a connector, by the agent's name. It is empty for a
// connector with a shared credential or without authentication.
func (t Accounts) ConnectorAccounts(ctx context.Context, f ConnectorAccountFilter) (List[ConnectorAccount], error) {
	name, id, account, err := f.Page.afterAccount("connector_accounts")
	if err != nil {
		return List[ConnectorAccount]{}, err
	}
	p := dbgen.ConnectorAccountsParams{
		TenantID: t.id, ConnectorID: f.Connector, State: string(f.State), Pattern: containsPattern(f.Query), Seconds: f.EndsSoon.Seconds(),
		AfterName: name, AfterID: id, AfterAccount: account, MaxRows: f.Page.rowLimit(),
	}
	if f.Person != nil {
		p.Person = &f.Person.UUID
	}
	rows, err := t.q.ConnectorAccounts(ctx, p)
	if err != nil {
		return List[ConnectorAccount]{}, err
	}
	item := func(r dbgen.ConnectorAccountsRow) ConnectorAccount { return toConnectorAccount(f.Connector, r) }
	return newList(f.Page, rows, item, "connector_accounts", func(r dbgen.ConnectorAccountsRow) []string {
		return []string{r.Name, r.AgentID.String(), r.AccountName}
	}), nil
}

func toConnectorAccount(connector connectors.ConnectorID, r dbgen.ConnectorAccountsRow) ConnectorAccount {
	agent := connectors.AgentID{UUID: r.AgentID}
	a := ConnectorAccount{
		Granted: r.Granted,
		Credential: connectors.Credential{
			ConnectorID: connector, AgentID: &agent, AgentSlug: r.Slug, AgentName: r.Name, Name: r.AccountName, Syncs: r.Syncs, Type: connectors.AuthType(r.Type), Status: connectors.CredentialStatus(r.Status), Account: r.Account,
			Identity: decodeIdentity(r.Identity),
			Scopes:   r.Scopes, ExpiresAt: toUTC(r.ExpiresAt), RefreshedAt: toUTC(r.RefreshedAt), LastUsedAt: toUTC(r.LastUsedAt), Error: r.Error,
		},
	}
	if at := r.ExpiringAt.UTC(); at.Unix() != 0 {
		a.EndsAt = &at
	}
	if r.Error != "" {
		a.Credential.Upstream = decodeUpstream(r.Upstream)
	}
	if r.UpdatedAt != nil {
		a.Credential.UpdatedAt = r.UpdatedAt.UTC()
	}
	return a
}

// CountMissing returns how many agents were granted a connector that requires a credential per agent, and have none.
func (t Accounts) CountMissing(ctx context.Context, connector connectors.ConnectorID) (int, error) {
	n, err := t.q.CountMissingAccounts(ctx, t.id, connector)
	return int(n), err
}
