package manifest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"

	"patchbay/client"
)

// defaultAccount is the name of an owner's only account. Several have other names.
const defaultAccount = "default"

var accountName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)

// readAccounts reads the secrets of an owner's accounts by name.
func (r *fileReader) readAccounts(location string, v any) map[string]map[string]string {
	accounts := map[string]map[string]string{}
	for name, v := range r.eachMember(location, v) {
		if !accountName.MatchString(name) {
			r.addError(location+"."+name, "is not a name of an account: use a-z, 0-9 and hyphens, at most 48")
		}
		accounts[name] = r.readCredential(location+"."+name, v)
	}
	switch _, hasDefault := accounts[defaultAccount]; {
	case len(accounts) == 0:
		r.addError(location, "must name an account")
	case hasDefault && len(accounts) > 1:
		r.addError(location+"."+defaultAccount, "must be the only account: name each of several otherwise")
	}
	return accounts
}

// readCredential reads a secret of its own entry, with a machine's own client id.
func (r *fileReader) readCredential(location string, v any) map[string]string {
	entered := maps.Clone(r.readObject(location, v))
	id, hasID := entered["client_id"]
	delete(entered, "client_id")
	secrets := r.readSecrets(location, entered)
	if hasID {
		text, isText := id.(string)
		if !isText {
			r.addError(location+".client_id", "must be a string")
		}
		secrets["client_id"] = text
	}
	for _, name := range sortedKeys(entered) {
		r.addError(location+"."+name, "is not a field of a credential")
	}
	return secrets
}

// checkBoundAccounts refuses grants of accounts that the file lacks, where it has all of their owner.
func (r *fileReader) checkBoundAccounts(file File) {
	for _, agent := range sortedKeys(file.Agents) {
		for _, connector := range sortedKeys(file.Agents[agent].Grants) {
			g := file.Agents[agent].Grants[connector]
			accounts := g.Accounts
			if accounts == nil {
				accounts = file.Connectors[connector].Accounts
			}
			if g.Put.Account == nil || *g.Put.Account == "" || accounts == nil {
				continue
			}
			if _, named := accounts[*g.Put.Account]; !named {
				r.addError("agents."+agent+".connectors."+connector+".account", "%q is not in credentials", *g.Put.Account)
			}
		}
	}
}

// firstSecrets are the secrets that are sent with the connector, and the name of their account; empty: the only one.
func (c Connector) firstSecrets() (account string, secrets map[string]string) {
	for _, name := range sortedKeys(c.Accounts) {
		return name, c.Accounts[name]
	}
	return "", c.Secrets
}

// nameFirst names the account that was stored with the connector.
func (c Connector) nameFirst(ctx context.Context, api *client.Client, slug string) error {
	account, _ := c.firstSecrets()
	if account == "" || account == defaultAccount {
		return nil
	}
	return api.ChangeCredential(ctx, slug, client.ChangeCredentialQuery{}, client.CredentialPatch{Name: &account})
}

// ownerSecrets are the secrets of an owner at a connector. agent empty: the shared ones.
type ownerSecrets struct {
	connector, agent string
	address          any // of the server that they are for
	isNew            bool
	Secrets          map[string]string // of the only account; nil: none
	Accounts         map[string]map[string]string
	sent             string // the account that is sent with the connector; empty: none, or the only one
}

// planSecrets plans the secrets that differ.
func (p *planner) planSecrets(ctx context.Context, o ownerSecrets) error {
	if o.Secrets != nil {
		return p.planSecret(ctx, o, "", o.Secrets)
	}
	for _, account := range sortedKeys(o.Accounts) {
		if account == o.sent {
			continue
		}
		if err := p.planSecret(ctx, o, account, o.Accounts[account]); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) planSecret(ctx context.Context, o ownerSecrets, account string, secrets map[string]string) error {
	entered, err := newSecretPut(secrets)
	if err != nil {
		return err
	}
	if !o.isNew {
		if same, err := o.hasSecret(ctx, p.api, account, entered); err != nil || same {
			return err
		}
	}
	name := o.connector
	if o.agent != "" {
		name += " " + o.agent
	}
	if account != "" {
		name += fmt.Sprintf(" (%s)", account)
	}
	p.add(Step{Change, "credential", name, []Field{{"auth", hiddenValue, hiddenValue}}, func(ctx context.Context, api *client.Client) error {
		if err := checkAddress(ctx, api, o.connector, o.address); err != nil {
			return err
		}
		if o.agent == "" {
			return api.SetCredential(ctx, o.connector, entered, client.SetCredentialQuery{Account: account})
		}
		return api.SetAgentCredential(ctx, o.connector, o.agent, entered, client.SetAgentCredentialQuery{Account: account})
	}})
	return nil
}

// hasSecret reports whether the account's stored secret equals this one.
func (o ownerSecrets) hasSecret(ctx context.Context, api *client.Client, account string, s client.SecretPut) (bool, error) {
	if o.agent == "" {
		return compareResult(api.CompareCredential(ctx, o.connector, s, client.CompareCredentialQuery{Account: account}))
	}
	return compareResult(api.CompareAgentCredential(ctx, o.connector, o.agent, s, client.CompareAgentCredentialQuery{Account: account}))
}

// checkAddress refuses to send a secret if the connector's address has changed meanwhile.
func checkAddress(ctx context.Context, api *client.Client, connector string, address any) error {
	is, err := api.GetConnector(ctx, connector)
	if err == nil && is.URL != address {
		err = errors.New("its URL has changed, so the secret was not sent")
	}
	return err
}
