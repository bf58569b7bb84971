package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// maxAccounts bounds the accounts of one owner at a connector.
const maxAccounts = 50

// TypeAccountRequired is the problem type of a request that does not say which of several accounts is meant.
const TypeAccountRequired = "account-required"

// SeveralAccountsError is the cause of a fault of type [TypeAccountRequired].
type SeveralAccountsError struct{ Names []string }

// Error implements error.
func (e SeveralAccountsError) Error() string {
	return "several accounts: " + strings.Join(e.Names, ", ")
}

// newSeveralAccounts is the Conflict of a look-up that found several accounts where one is needed.
func newSeveralAccounts(names []string) error {
	f := fault.Errorf(fault.Conflict, "There are several accounts: %s. Say which one.", strings.Join(names, ", ")).WithType(TypeAccountRequired)
	f.Err = SeveralAccountsError{Names: names}
	return f
}

// sealedAccount returns an owner's account by its name, or its only account if the name is empty. Several accounts without a name are an
// error: none of them is chosen.
func (v *Vault) sealedAccount(
	ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string,
) (dbgen.Credential, error) {
	p := dbgen.SealedCredentialsParams{TenantID: v.id, ConnectorID: id, AgentID: agent, MaxRows: maxAccounts}
	if name != "" {
		p.Name = &name
	}
	rows, err := v.q.SealedCredentials(ctx, p)
	switch {
	case err != nil:
		return dbgen.Credential{}, err
	case len(rows) == 0:
		return dbgen.Credential{}, newNotFound("credential")
	case len(rows) > 1:
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = r.Name
		}
		return dbgen.Credential{}, newSeveralAccounts(names)
	default:
		return rows[0], nil
	}
}

// ChooseForSyncs makes syncs of a connector use an agent's account with a name, empty: its only one. agent nil: a shared one.
func (t Syncs) ChooseForSyncs(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) error {
	name, err := t.chooseAccountName(ctx, id, agent, name)
	if err != nil {
		return err
	}
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.LockAccounts(ctx, t.id.UUID, id.UUID); err != nil {
			return err
		}
		if err := tx.checkServesSyncs(ctx, id, agent, name); err != nil {
			return err
		}
		if err := tx.q.ReleaseSyncAccount(ctx, t.id, id, agent == nil); err != nil {
			return err
		}
		n, err := tx.q.ChooseSyncAccount(ctx, dbgen.ChooseSyncAccountParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Name: name})
		return tx.notifyChange(affectedError(n, err, "account"), "credential", id)
	})
}

// checkServesSyncs fails for an account with tokens that name a member by token exchange: only that member's calls request them.
func (t *tenant) checkServesSyncs(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) error {
	rows, err := t.q.SealedCredentials(ctx, dbgen.SealedCredentialsParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Name: &name, MaxRows: 1})
	if err != nil || len(rows) == 0 || rows[0].MemberID == nil {
		return err
	}
	exchanged, err := isExchanged(rows[0])
	if err == nil && exchanged {
		err = fault.Errorf(fault.Conflict, "Only calls of its member request tokens of this account. Choose the account of an agent without a member for syncs.")
	}
	return err
}

// SharedForSyncs reads the shared account that syncs of a connector use: the one chosen for them, else the only one. Several without a choice
// are a Conflict of [TypeAccountRequired].
func (t Syncs) SharedForSyncs(ctx context.Context, id connectors.ConnectorID) (connectors.CredentialID, error) {
	row, err := t.q.SyncCredential(ctx, t.id, id, true)
	if !errors.Is(err, pgx.ErrNoRows) {
		return row.Credential.ID, err
	}
	only, err := Agents(t).CredentialFor(ctx, id, nil, "")
	return only.ID, err
}

// chooseAccountName returns the name of the account that a stored secret replaces or adds: the given name, else that of the only account, else
// the default one.
func (t *tenant) chooseAccountName(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) (string, error) {
	if name != "" && !connectors.ValidSlug(name) {
		return "", fault.InvalidFields(fault.Field{Location: "account", Message: slugRule})
	}
	names, err := t.q.AccountNames(ctx, dbgen.AccountNamesParams{TenantID: t.id, ConnectorID: id, AgentID: agent, MaxRows: maxAccounts})
	switch {
	case err != nil:
		return "", err
	case name != "" && len(names) == maxAccounts && !slices.Contains(names, name):
		return "", fault.Errorf(fault.Conflict, "At most %d accounts. Disconnect one first.", maxAccounts)
	case name != "" && len(names) > 0 && !slices.Contains(names, name) && (name == connectors.DefaultAccount || slices.Contains(names, connectors.DefaultAccount)):
		return "", newDefaultNotAlone(name)
	case name != "" && name != connectors.DefaultAccount && !slices.Contains(names, name):
		return name, t.requireAccountNames(ctx)
	case name != "":
		return name, nil
	case len(names) == 0:
		return connectors.DefaultAccount, nil
	case len(names) > 1:
		return "", newSeveralAccounts(names)
	default:
		return names[0], nil
	}
}

// requireAccountNames fails while a process of an older release runs, which would not know a named account.
func (t *tenant) requireAccountNames(ctx context.Context) error {
	older, err := t.q.HasInstanceWithoutAccountNames(ctx)
	if err == nil && older {
		err = fault.Errorf(fault.Conflict, "A server of an older release still runs, which knows one account. Try again after the upgrade.")
	}
	return err
}

// Rename renames an owner's account, and the account in the grants that bind it. Connections that were begun for it end. name empty: the owner's only one. It is part of a
// transaction.
func (t Accounts) Rename(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name, to string) error {
	if !connectors.ValidSlug(to) {
		return fault.InvalidFields(fault.Field{Location: "name", Message: slugRule})
	}
	name, err := t.chooseAccountName(ctx, id, agent, name)
	if err != nil || name == to {
		return err
	}
	if err := t.requireAccountNames(ctx); err != nil {
		return err
	}
	if err := t.q.LockAccounts(ctx, t.id.UUID, id.UUID); err != nil {
		return err
	}
	bound := dbgen.IsAccountBoundParams{TenantID: t.id, ConnectorID: id, AgentID: optionalAgent(agent), Name: to}
	switch taken, err := t.q.IsAccountBound(ctx, bound); {
	case err != nil:
		return err
	case taken:
		return fault.Errorf(fault.Conflict, "Grants still name an account %q. Change them first, so that they don't use another one.", to)
	}
	rows, err := t.q.SealedCredentials(ctx, dbgen.SealedCredentialsParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Name: &name, MaxRows: 1})
	if err != nil || len(rows) == 0 {
		return cmp.Or(err, newNotFound("account"))
	}
	row := rows[0]
	switch exchanged, err := isExchanged(row); {
	case err != nil:
		return err
	case exchanged: // under another name it would not be found
		return fault.Errorf(fault.Conflict, "This account comes from token exchange, and keeps its name.")
	}
	plain, ok := t.openIfReadable(ctx, row.Sealed, credentialAD(t.id, accountPlace{id, agent, name, row.Origin}))
	if !ok {
		return fault.Errorf(fault.Conflict, "The stored credential can't be decrypted. Set it again.")
	}
	p := dbgen.RenameCredentialParams{TenantID: t.id, ID: row.ID, Version: row.Version, Name: to}
	return t.sealAndRetry(ctx, plain, credentialAD(t.id, accountPlace{id, agent, to, row.Origin}), func(sealed []byte) error {
		p.Sealed = sealed
		n, err := t.q.RenameCredential(ctx, p)
		if err == nil && n == 0 {
			err = fault.Errorf(fault.Conflict, "This account's access is being refreshed. Try again in a moment.")
		}
		if err != nil {
			return err
		}
		owner := dbgen.RenameBoundAccountParams{TenantID: t.id, ConnectorID: id, AgentID: optionalAgent(agent), Former: name, Name: to}
		if err := t.q.RenameBoundAccount(ctx, owner); err != nil {
			return err
		}
		flows := dbgen.DeleteFlowsOfAccountParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Accounts: []string{name, to, ""}}
		return t.notifyChange(t.q.DeleteFlowsOfAccount(ctx, flows), "credential", id)
	})
}

// maxBoundAgents bounds [Accounts.BoundAgents].
const maxBoundAgents = 1000

// BoundAgents returns the slugs of the agents with grants that bind an owner's account by its name, at most 1,000.
func (t Accounts) BoundAgents(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) ([]string, error) {
	return t.q.AgentsBoundToAccount(ctx, dbgen.AgentsBoundToAccountParams{
		TenantID: t.id, ConnectorID: id, AgentID: optionalAgent(agent), Name: name, MaxRows: maxBoundAgents,
	})
}

func optionalAgent(id *connectors.AgentID) *uuid.UUID {
	if id == nil {
		return nil
	}
	return &id.UUID
}

// newDefaultNotAlone is the fault of the database for a second account beside the default one, before anything was sent to a server.
func newDefaultNotAlone(name string) error {
	constraint := "credentials_default_alone"
	if name == connectors.DefaultAccount {
		constraint = "credentials_name_given"
	}
	v := constraintFaults[constraint]
	return fault.Errorf(v.kind, "%s", v.message).WithType(v.typ)
}

// FullName returns the name of the account that a connection stores, empty: of the only one. It fails if no account with this name could
// be stored for an owner.
func (t Accounts) FullName(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) (string, error) {
	return t.chooseAccountName(ctx, id, agent, name)
}

// CheckNamed fails while a process of an older release runs, which would use an account without looking at its name.
func (t Accounts) CheckNamed(ctx context.Context) error { return t.requireAccountNames(ctx) }

// Names returns the names of an owner's accounts.
func (t Accounts) Names(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) ([]string, error) {
	return t.q.AccountNames(ctx, dbgen.AccountNamesParams{TenantID: t.id, ConnectorID: id, AgentID: agent, MaxRows: maxAccounts})
}
