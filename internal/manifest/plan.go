package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"patchbay/client"
)

// Step is one change of the installation.
type Step struct {
	Action string  `json:"action"` // create, change or delete
	Kind   string  `json:"kind"`   // connector, credential, tool, agent, grant or shaping
	Name   string  `json:"name"`
	Fields []Field `json:"fields"`

	run func(context.Context, *client.Client) error
}

// The actions.
const (
	Create = "create"
	Change = "change"
	Delete = "delete"
)

// Do performs the step.
func (s Step) Do(ctx context.Context, api *client.Client) error {
	if err := s.run(ctx, api); err != nil {
		return fmt.Errorf("%s the %s %s: %w", s.Action, s.Kind, s.Name, err)
	}
	return nil
}

// Options are the options of a plan.
type Options struct {
	Prune        bool // delete connectors and agents that the file does not name
	ConfirmMoves bool // a move to another origin may drop credentials
}

type planner struct {
	Options
	api   *client.Client
	file  File
	state State
	steps []Step
}

// Plan returns the steps from the state to the file, in an executable order. The installation is asked to compare
// secrets; nothing is changed.
func Plan(ctx context.Context, api *client.Client, file File, state State, o Options) ([]Step, error) {
	p := &planner{Options: o, api: api, file: file, state: state}
	if err := p.checkGrants(o.Prune); err != nil {
		return nil, err
	}
	for _, slug := range sortedKeys(file.Connectors) {
		if err := p.planConnector(ctx, slug, file.Connectors[slug]); err != nil {
			return nil, fmt.Errorf("the connector %s: %w", slug, err)
		}
	}
	for _, slug := range sortedKeys(file.Agents) {
		if err := p.planAgent(ctx, slug, file.Agents[slug]); err != nil {
			return nil, fmt.Errorf("the agent %s: %w", slug, err)
		}
	}
	if o.Prune {
		p.planDeletions()
	}
	for _, slug := range sortedKeys(file.Connectors) { // last, as a person may have to connect an account first
		if err := p.planTools(slug, file.Connectors[slug].Tools); err != nil {
			return nil, fmt.Errorf("the connector %s: %w", slug, err)
		}
	}
	return p.steps, nil
}

func (p *planner) add(s Step) {
	if s.Fields == nil {
		s.Fields = []Field{}
	}
	p.steps = append(p.steps, s)
}

// checkGrants returns an error for grants of unknown connectors.
func (p *planner) checkGrants(prune bool) error {
	var errs []error
	for _, agent := range sortedKeys(p.file.Agents) {
		for _, connector := range sortedKeys(p.file.Agents[agent].Grants) {
			_, named := p.file.Connectors[connector]
			_, there := p.state.Connectors[connector]
			if !named && (!there || prune) {
				errs = append(errs, fmt.Errorf("agents.%s.connectors.%s: no such connector in the file or the installation", agent, connector))
			}
		}
	}
	return errors.Join(errs...)
}

func (p *planner) planConnector(ctx context.Context, slug string, c Connector) error {
	is, there := p.state.Connectors[slug]
	if !there {
		return p.planNewConnector(ctx, slug, c)
	}
	if (c.API != nil) != (is.Kind == kindHTTP) {
		return errors.New("an MCP server can't become an HTTP API, or the other way round: delete it first")
	}
	have := toDocument(is)
	fields := diffFields(have, c.Fields)
	part := selectFields(c.Fields, fields)
	// Another authentication, server or program needs the secret again.
	anew := func(names ...string) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return slices.Contains(names, f.Name) })
	}
	if _, auth := part["auth"]; auth || (anew("url", "transport", "credential_mode") || c.API.movesFrom(is.URL)) && c.hasSecrets() {
		part["auth"] = c.authFields()
	}
	if c.Env != nil && (anew("command", "args", "cwd") || !slices.Equal(sortedKeys(c.Env), sortedNames(is.EnvNames))) {
		part["env"] = c.Env
		fields = append(fields, Field{"env", is.EnvNames, sortedKeys(c.Env)})
	}
	if c.API != nil {
		fields = append(fields, c.API.diffDocument(p.state.APIs[slug].Document, part)...)
	}
	if len(fields) > 0 {
		patch, err := decodeDocument[client.ConnectorPatch](part)
		if err != nil {
			return err
		}
		if p.ConfirmMoves {
			patch.Confirm = &p.ConfirmMoves
		}
		p.add(Step{Change, "connector", slug, fields, func(ctx context.Context, api *client.Client) error {
			_, err := api.UpdateConnector(ctx, slug, patch)
			if _, sent := part["auth"]; err != nil || !sent {
				return err
			}
			return c.nameFirst(ctx, api, slug)
		}})
	}
	if err := p.planAPI(slug, c.API); err != nil {
		return err
	}
	secrets := ownerSecrets{connector: slug, address: c.serverAddress(), Accounts: c.Accounts}
	if _, sent := part["auth"]; sent {
		secrets.sent, _ = c.firstSecrets()
	} else if len(c.Secrets) > 0 {
		secrets.Secrets = c.Secrets
	}
	return p.planSecrets(ctx, secrets)
}

func (p *planner) planNewConnector(ctx context.Context, slug string, c Connector) error {
	whole := Document{"slug": slug, "name": slug}
	for name, v := range c.Fields {
		whole[name] = v
	}
	if c.Fields["auth"] != nil {
		whole["auth"] = c.authFields()
	}
	if c.Env != nil {
		whole["env"] = c.Env
	}
	fields := diffFields(nil, c.Fields)
	if c.API != nil {
		fields = append(fields, c.API.addTo(whole)...)
	}
	create, err := decodeDocument[client.ConnectorCreate](whole)
	if err != nil {
		return err
	}
	if c.hasSecrets() {
		fields = append(fields, Field{"auth.secret", nil, hiddenValue})
	}
	if c.Env != nil {
		fields = append(fields, Field{"env", nil, sortedKeys(c.Env)})
	}
	p.add(Step{Create, "connector", slug, fields, func(ctx context.Context, api *client.Client) error {
		if _, err := api.CreateConnector(ctx, create); err != nil {
			return err
		}
		return c.nameFirst(ctx, api, slug)
	}})
	first, _ := c.firstSecrets()
	if err := p.planSecrets(ctx, ownerSecrets{connector: slug, address: c.serverAddress(), isNew: true, Accounts: c.Accounts, sent: first}); err != nil {
		return err
	}
	return p.planOperationSettings(slug, c.API)
}

// serverAddress returns the URL that a connector has in the API.
func (c Connector) serverAddress() any {
	if c.API != nil && c.API.DocumentURL != "" {
		return c.API.DocumentURL
	}
	return c.Fields["url"]
}

func (c Connector) authFields() map[string]any {
	auth := map[string]any{}
	fields, _ := c.Fields["auth"].(map[string]any)
	for name, v := range fields {
		auth[name] = v
	}
	_, secrets := c.firstSecrets()
	for name, v := range secrets {
		auth[name] = v
	}
	return auth
}

func (c Connector) hasSecrets() bool { return len(c.Secrets)+len(c.Accounts) > 0 }

func newSecretPut(secrets map[string]string) (client.SecretPut, error) {
	doc := Document{}
	for name, v := range secrets {
		doc[name] = v
	}
	return decodeDocument[client.SecretPut](doc)
}

func (p *planner) planAgent(ctx context.Context, slug string, a Agent) error {
	is, there := p.state.Agents[slug]
	switch fields := diffFields(toDocument(is), a.Fields); {
	case !there:
		whole := Document{"slug": slug, "name": slug}
		for name, v := range a.Fields {
			whole[name] = v
		}
		create, err := decodeDocument[client.AgentCreate](whole)
		if err != nil {
			return err
		}
		p.add(Step{Create, "agent", slug, diffFields(nil, a.Fields), func(ctx context.Context, api *client.Client) error {
			_, err := api.CreateAgent(ctx, create)
			return err
		}})
	case len(fields) > 0:
		patch, err := decodeDocument[client.AgentPatch](selectFields(a.Fields, fields))
		if err != nil {
			return err
		}
		p.add(Step{Change, "agent", slug, fields, func(ctx context.Context, api *client.Client) error {
			_, err := api.UpdateAgent(ctx, slug, patch)
			return err
		}})
	}
	for _, connector := range sortedKeys(a.Grants) {
		if err := p.planGrant(ctx, slug, connector, a.Grants[connector]); err != nil {
			return fmt.Errorf("%s: %w", connector, err)
		}
	}
	if a.Grants == nil {
		return nil
	}
	for _, connector := range sortedKeys(p.state.Grants[slug]) {
		if _, wanted := a.Grants[connector]; !wanted {
			p.add(Step{Delete, "grant", slug + " " + connector, nil, func(ctx context.Context, api *client.Client) error {
				return api.DropConnector(ctx, slug, connector)
			}})
		}
	}
	return nil
}

func (p *planner) planGrant(ctx context.Context, agent, connector string, g Grant) error {
	is, there := p.state.Grants[agent][connector]
	action, had := Create, Document(nil)
	if there {
		g.Put.Ends = endsOrNone(g.Put.Ends, is.Ends)
		stored := client.AgentGrantPut{
			Tools: is.Tools, Approval: is.Approval, TrustedTools: is.TrustedTools, PinnedTools: is.PinnedTools, Prompts: &is.Prompts, Resources: &is.Resources,
			Ends: &is.Ends, Account: comparedAccount(g.Put.Account, is.Account),
		}
		if g.Put.Accounts != nil {
			stored.Accounts = is.Accounts
		}
		action, had = Change, grantDocument(stored)
	}
	if fields := diffFields(had, grantDocument(g.Put)); !there || len(fields) > 0 {
		p.add(Step{action, "grant", agent + " " + connector, fields, func(ctx context.Context, api *client.Client) error {
			return api.GrantConnector(ctx, agent, connector, g.Put)
		}})
	}
	if g.Shaping != nil {
		p.planShaping(agent, connector, g.Shaping)
	}
	_, hasAgent := p.state.Agents[agent]
	_, hasConnector := p.state.Connectors[connector]
	at := p.file.Connectors[connector].Fields["url"]
	if at == nil {
		at = p.state.Connectors[connector].URL
	}
	return p.planSecrets(ctx, ownerSecrets{
		connector: connector, agent: agent, address: at, isNew: !hasAgent || !hasConnector, Secrets: g.Secrets, Accounts: g.Accounts,
	})
}

// comparedAccount is the account of a stored grant to compare with that of the file; nil if the file says none, which changes nothing.
func comparedAccount(wanted, stored *string) *string {
	if wanted != nil && stored == nil {
		return new("")
	}
	if wanted == nil {
		return nil
	}
	return stored
}

// grantDocument returns a grant in canonical order, for comparison. Prompts, resources and pinned tools that a file does not
// choose stay as they are.
func grantDocument(put client.AgentGrantPut) Document {
	put.Ends = canonicalEnds(put.Ends)
	doc := toDocument(put)
	for _, name := range []string{"prompts", "resources"} {
		if doc[name] == nil {
			delete(doc, name)
		}
	}
	for _, name := range []string{"tools", "trusted_tools", "accounts"} {
		doc[name] = sortStrings(doc[name])
	}
	if pinned, chosen := doc["pinned_tools"]; chosen {
		doc["pinned_tools"] = sortStrings(pinned)
	}
	if doc["approval"] == nil {
		doc["approval"] = ""
	}
	return doc
}

// planDeletions deletes what the file lacks: agents, then connectors.
func (p *planner) planDeletions() {
	for _, slug := range sortedKeys(p.state.Agents) {
		if _, named := p.file.Agents[slug]; !named {
			p.add(Step{Delete, "agent", slug, nil, func(ctx context.Context, api *client.Client) error { return api.DeleteAgent(ctx, slug) }})
		}
	}
	for _, slug := range sortedKeys(p.state.Connectors) {
		if _, named := p.file.Connectors[slug]; !named {
			p.add(Step{Delete, "connector", slug, nil, func(ctx context.Context, api *client.Client) error { return api.DeleteConnector(ctx, slug) }})
		}
	}
}

func sortedNames(names []string) []string {
	names = slices.Clone(names)
	sort.Strings(names)
	return names
}
