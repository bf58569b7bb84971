package manage

import (
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// SetCredential stores the secret of a connector, or an agent's secret for it. It replaces an earlier one.
func (r *Registry) SetCredential(
	ctx context.Context, a auth.Actor, connector connectors.Ref, agent *connectors.Ref, s connectors.Secret,
) error {
	return r.SetAccount(ctx, a, AccountRef{Connector: connector, Agent: agent}, s)
}

// AccountRef names an account of a connector.
type AccountRef struct {
	Connector connectors.Ref
	Agent     *connectors.Ref // owner; nil: shared
	Name      string          // empty: the owner's only one
}

// SetAccount is SetCredential for a named account.
func (r *Registry) SetAccount(ctx context.Context, a auth.Actor, of AccountRef, s connectors.Secret) error {
	connector, agent := of.Connector, of.Agent
	if err := requireCredentialWrite(a, agent); err != nil {
		return err
	}
	s = s.Normalized()
	if s.WorkloadToken != "" { // the operator's, also for an agent of the member
		if err := a.Require(connectors.PermManage); err != nil {
			return err
		}
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := findOwner(ctx, tx, connector, agent)
		if err != nil {
			return err
		}
		owner.account = of.Name
		if err := a.RequireAccount(ctx, tx.Agents(), owner.agentID()); err != nil {
			return err
		}
		if err := owner.checkSecret(s); err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, owner.secretSubject())
		if err != nil {
			return err
		}
		if err := a.LockAccount(ctx, tx, owner.agentID()); err != nil { // the lock may have waited
			return err
		}
		if owner.connector.Auth.Type != connectors.AuthOAuth2 {
			if err := owner.nameAccount(ctx, tx); err != nil {
				return err
			}
		}
		if err := setSecret(ctx, tx.Connectors(), owner, s); err != nil {
			return err
		}
		return tx.RecordChange(ctx, owner.auditEvent(a, "credential.set"), before, owner.secretSubject())
	})
}

// DeleteCredential deletes the secret of a connector, or an agent's for it.
func (r *Registry) DeleteCredential(ctx context.Context, a auth.Actor, connector connectors.Ref, agent *connectors.Ref) error {
	return r.DeleteAccount(ctx, a, AccountRef{Connector: connector, Agent: agent})
}

// DeleteAccount is DeleteCredential for a named account.
func (r *Registry) DeleteAccount(ctx context.Context, a auth.Actor, of AccountRef) error {
	connector, agent := of.Connector, of.Agent
	if err := requireCredentialDelete(a, agent); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := findOwner(ctx, tx, connector, agent)
		if err != nil {
			return err
		}
		owner.account = of.Name
		if err := a.RequireDisconnect(ctx, tx.Agents(), owner.agentID()); err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, owner.auditSubject())
		if err != nil {
			return err
		}
		if err := owner.nameAccount(ctx, tx); err != nil {
			return err
		}
		if err := tx.Connectors().DeleteCredential(ctx, owner.connector.ID, owner.agentID(), of.Name); err != nil {
			return err
		}
		return tx.RecordChange(ctx, owner.auditEvent(a, "credential.delete"), before, owner.auditSubject())
	})
}

// requireCredentialWrite checks the role before anything is read.
func requireCredentialWrite(a auth.Actor, agent *connectors.Ref) error {
	if agent == nil {
		return a.Require(connectors.PermManage)
	}
	return a.Require(connectors.PermOperate)
}

// requireCredentialDelete checks the role before anything is read. Members may delete their own accounts.
func requireCredentialDelete(a auth.Actor, agent *connectors.Ref) error {
	if agent == nil || a.UserID == nil {
		return requireCredentialWrite(a, agent)
	}
	return a.Require(connectors.PermRead)
}

// credentialOwner is the connector, and in per-agent mode the agent, of a credential.
type credentialOwner struct {
	connector connectors.Connector
	agent     *connectors.Agent
	account   string // its name; empty: the owner's only one
}

func findOwner(ctx context.Context, tx *store.Tenant, connector connectors.Ref, agent *connectors.Ref) (credentialOwner, error) {
	c, err := tx.Connectors().Get(ctx, connector)
	if err != nil || agent == nil {
		return credentialOwner{connector: c}, err
	}
	found, err := tx.Agents().Get(ctx, *agent)
	return credentialOwner{connector: c, agent: &found}, err
}

func (o credentialOwner) agentID() *connectors.AgentID {
	if o.agent == nil {
		return nil
	}
	return &o.agent.ID
}

// nameAccount names the owner's only account, unless its name is the default one.
func (o *credentialOwner) nameAccount(ctx context.Context, tx *store.Tenant) error {
	if o.account != "" {
		return nil
	}
	name, err := tx.Accounts().FullName(ctx, o.connector.ID, o.agentID(), "")
	o.account = connectors.GivenName(name)
	return err
}

// auditSubject is the credential as the audit log's subject.
func (o credentialOwner) auditSubject() store.StateReader {
	return store.OfAccount(o.connector.ID, o.agentID(), o.account)
}

// secretSubject is the secret that can be entered: with OAuth the client secret, because accounts are
// connected.
func (o credentialOwner) secretSubject() store.StateReader {
	if o.connector.Auth.Type == connectors.AuthOAuth2 {
		return store.OfClientSecret(o.connector.ID)
	}
	return o.auditSubject()
}

// checkSecret validates a secret for this owner.
func (o credentialOwner) checkSecret(s connectors.Secret) error {
	switch o.connector.Auth.Type {
	case connectors.AuthNone:
		return fault.Errorf(fault.Conflict, "The connector %q needs no credential.", o.connector.Name)
	case connectors.AuthOAuth2:
		return o.checkClientSecret(s)
	}
	if err := o.checkMode(); err != nil {
		return err
	}
	t := o.connector.Auth.Type
	return fault.InvalidFields(slices.Concat(s.Validate(t, ""), o.checkMachineClientID(s), credentials.ValidateKey(t, o.connector.OAuth, s, ""))...)
}

// checkMode fails if the connector's accounts have other owners.
func (o credentialOwner) checkMode() error {
	switch perAgent := o.connector.CredentialMode == connectors.CredentialPerAgent; {
	case perAgent && o.agent == nil:
		return fault.Errorf(fault.Conflict, "Set the credential for an agent: %q has one per agent.", o.connector.Name)
	case !perAgent && o.agent != nil:
		return fault.Errorf(fault.Conflict, "Set the credential on the connector %q: all agents share it.", o.connector.Name)
	}
	return nil
}

// checkClientSecret validates a client secret. With OAuth only that can be entered.
func (o credentialOwner) checkClientSecret(s connectors.Secret) error {
	switch {
	case o.agent != nil:
		return fault.Errorf(fault.Conflict, "The connector %q uses OAuth. Connect an account instead.", o.connector.Name)
	case o.connector.OAuth.ClientID == "":
		return fault.Errorf(fault.Conflict, "The connector %q has no client ID for this client secret. Set both, or connect without either.", o.connector.Name)
	default:
		return fault.InvalidFields(s.Validate(connectors.AuthOAuth2, "")...)
	}
}

// checkMachineClientID requires a client id in the secret or in the connector.
func (o credentialOwner) checkMachineClientID(s connectors.Secret) []fault.Field {
	switch o.connector.Auth.Type {
	case connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
		if s.ClientID == "" && o.connector.OAuth.ClientID == "" {
			return []fault.Field{{Location: "client_id", Message: "Enter a client ID: the connector has none."}}
		}
	}
	return nil
}

func (o credentialOwner) auditEvent(a auth.Actor, action string) store.Event {
	e := a.Event(action, o.connector.Slug)
	e.Detail = map[string]any{"connector_id": o.connector.ID.String(), "type": string(o.connector.Auth.Type)}
	if o.agent != nil {
		e.Detail["agent_id"], e.Detail["agent"] = o.agent.ID.String(), o.agent.Slug
	}
	if o.account != "" {
		e.Detail["account"] = o.account
	}
	return e
}
