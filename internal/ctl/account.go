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

type connectorSetCredential struct {
	accountRef
	Secret   string `required:"" placeholder:"@FILE|-" help:"The token, key, password, client secret or private key: @FILE for a file, - for standard input."`
	Username string `placeholder:"NAME" help:"The username, for basic."`
	ClientID string `name:"client-id" placeholder:"ID" help:"The client, for client_credentials and private_key_jwt. Unset: the connector's."`
}

// Run stores a secret of the connector's type.
func (c connectorSetCredential) Run(ctx context.Context, s *session) error {
	secret, err := s.readSecret(c.Secret)
	if err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	connector, err := api.GetConnector(ctx, c.Connector)
	if err != nil {
		return err
	}
	put, err := c.newSecret(connector.Auth.Type, secret)
	if err != nil {
		return err
	}
	if c.Agent == "" {
		err = api.SetCredential(ctx, c.Connector, put, client.SetCredentialQuery{Account: c.Account})
	} else {
		err = api.SetAgentCredential(ctx, c.Connector, c.Agent, put, client.SetAgentCredentialQuery{Account: c.Account})
	}
	if err != nil {
		return err
	}
	return s.printSentence(nil, "Set a credential of %s.", c.Connector)
}

// newSecret returns the request for a connector's type of authentication.
func (c connectorSetCredential) newSecret(auth, secret string) (client.SecretPut, error) {
	var put client.SecretPut
	switch auth {
	case "bearer":
		put.Token = &secret
	case "api_key":
		put.Key = &secret
	case "basic":
		put.Username, put.Password = &c.Username, &secret
	case "client_credentials":
		put.ClientSecret = &secret
	case "private_key_jwt":
		put.PrivateKey = &secret
	case "oauth2":
		return put, errors.New("this connector has accounts: use connectors connect")
	default:
		return put, errors.New("this connector needs no credential")
	}
	if c.ClientID != "" {
		put.ClientID = &c.ClientID
	}
	return put, nil
}

type connectorConnect struct{ accountRef }

// Run prints a link for the account's owner.
func (c connectorConnect) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var in client.ConnectRequest
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	if c.Account != "" {
		in.Account = &c.Account
	}
	got, err := api.ConnectAccount(ctx, c.Connector, in)
	if err != nil {
		return err
	}
	return s.printSentence(got, "Send this link to the account's owner; it works once: %s", got.ConnectURL)
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
