package ctl

import (
	"context"
	"errors"

	"patchbay/client"
)

// accountRef names an account of a connector.
type accountRef struct {
	connectorRef
	Agent   string `placeholder:"AGENT" help:"An account of this agent. Unset: a shared one."`
	Account string `placeholder:"NAME" help:"The account's name. Unset: the only one."`
}

type connectorChangeAccount struct {
	accountRef
	Rename string `placeholder:"NAME" help:"The new name, also in the grants that use the account."`
	Syncs  bool   `help:"Syncs use this account from now on."`
}

// Run renames an account, or makes syncs use it.
func (c connectorChangeAccount) Run(ctx context.Context, s *session) error {
	if c.Rename == "" && !c.Syncs {
		return errors.New("use --rename or --syncs")
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var patch client.CredentialPatch
	if c.Rename != "" {
		patch.Name = &c.Rename
	}
	if c.Syncs {
		patch.Syncs = &c.Syncs
	}
	if c.Agent == "" {
		err = api.ChangeCredential(ctx, c.Connector, client.ChangeCredentialQuery{Account: c.Account}, patch)
	} else {
		err = api.ChangeAgentCredential(ctx, c.Connector, c.Agent, client.ChangeAgentCredentialQuery{Account: c.Account}, patch)
	}
	if err != nil {
		return err
	}
	return s.printSentence(nil, "Changed an account of %s.", c.Connector)
}

type connectorDeleteAccount struct{ accountRef }

// Run deletes an account or a credential.
func (c connectorDeleteAccount) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if c.Agent == "" {
		err = api.DeleteCredential(ctx, c.Connector, client.DeleteCredentialQuery{Account: c.Account})
	} else {
		err = api.DeleteAgentCredential(ctx, c.Connector, c.Agent, client.DeleteAgentCredentialQuery{Account: c.Account})
	}
	if err != nil {
		return err
	}
	return s.printSentence(nil, "Deleted an account of %s.", c.Connector)
}
