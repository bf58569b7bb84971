package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"patchbay/client"
)

// Step is one thing to be done.
type Step struct {
	Action string  `json:"action"` // create, change or delete
	Kind   string  `json:"kind"`   // connector, credential, tool, agent or grant
	Name   string  `json:"name"`
	Fields []Field `json:"fields"`

	do func(context.Context, *client.Client) error
}

// The actions.
const (
	Create = "create"
	Change = "change"
	Delete = "delete"
)

// Do does it.
func (s Step) Do(ctx context.Context, api *client.Client) error {
	if err := s.do(ctx, api); err != nil {
		return fmt.Errorf("%s the %s %s: %w", s.Action, s.Kind, s.Name, err)
	}
	return nil
}

// planner collects the steps.
type planner struct {
	api   *client.Client
	file  File
	is    State
	steps []Step
}

// Plan is what is to be done so that the installation is as the file says, in an order in which it can be done. Where prune is true, connectors
// and agents that the file does not name are deleted. The installation is asked about secrets, and nothing is changed.
func Plan(ctx context.Context, api *client.Client, file File, is State, prune bool) ([]Step, error) {
	p := &planner{api: api, file: file, is: is}
	if err := p.known(prune); err != nil {
		return nil, err
	}
	for _, slug := range slugs(file.Connectors) {
		if err := p.connector(ctx, slug, file.Connectors[slug]); err != nil {
			return nil, fmt.Errorf("the connector %s: %w", slug, err)
		}
	}
	for _, slug := range slugs(file.Agents) {
		if err := p.agent(ctx, slug, file.Agents[slug]); err != nil {
			return nil, fmt.Errorf("the agent %s: %w", slug, err)
		}
	}
	if prune {
		p.prune()
	}
	for _, slug := range slugs(file.Connectors) { // last: a person may have to connect an account before tools are known
		if err := p.tools(slug, file.Connectors[slug].Tools); err != nil {
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

// known tells of grants for connectors that nobody has.
func (p *planner) known(prune bool) error {
	var errs []error
	for _, agent := range slugs(p.file.Agents) {
		for _, connector := range slugs(p.file.Agents[agent].Grants) {
			_, named := p.file.Connectors[connector]
			_, there := p.is.Connectors[connector]
			if !named && (!there || prune) {
				errs = append(errs, fmt.Errorf("agents.%s.connectors.%s: there is no such connector, neither in the file nor in the installation", agent, connector))
			}
		}
	}
	return errors.Join(errs...)
}

func (p *planner) connector(ctx context.Context, slug string, c Connector) error {
	is, there := p.is.Connectors[slug]
	if !there {
		return p.newConnector(slug, c)
	}
	have := documentOf(is)
	fields := differing(have, c.Fields)
	part := within(c.Fields, fields)
	// Another way to sign in, and another server, need the secret anew; so does a program that is another.
	anew := func(names ...string) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return slices.Contains(names, f.Name) })
	}
	if _, auth := part["auth"]; auth || anew("url", "transport", "credential_mode") && len(c.Secrets) > 0 {
		part["auth"] = c.auth()
	}
	if c.Env != nil && (anew("command", "args", "cwd") || !slices.Equal(slugs(c.Env), sortedNames(is.EnvNames))) {
		part["env"] = c.Env
		fields = append(fields, Field{"env", is.EnvNames, slugs(c.Env)})
	}
	if len(fields) > 0 {
		patch, err := into[client.ConnectorPatch](part)
		if err != nil {
			return err
		}
		p.add(Step{Change, "connector", slug, fields, func(ctx context.Context, api *client.Client) error {
			_, err := api.UpdateConnector(ctx, slug, patch)
			return err
		}})
	}
	if _, sent := part["auth"]; sent || len(c.Secrets) == 0 {
		return nil
	}
	entered, err := secretPut(c.Secrets)
	if err != nil {
		return err
	}
	same, err := sameShared(ctx, p.api, slug, entered)
	if err == nil && !same {
		p.add(Step{Change, "credential", slug, []Field{{"auth", hidden, hidden}}, func(ctx context.Context, api *client.Client) error {
			if err := stillAt(ctx, api, slug, c.Fields["url"]); err != nil {
				return err
			}
			return api.SetCredential(ctx, slug, entered)
		}})
	}
	return err
}

func (p *planner) newConnector(slug string, c Connector) error {
	whole := Document{"slug": slug, "name": slug}
	for name, v := range c.Fields {
		whole[name] = v
	}
	if c.Fields["auth"] != nil {
		whole["auth"] = c.auth()
	}
	if c.Env != nil {
		whole["env"] = c.Env
	}
	create, err := into[client.ConnectorCreate](whole)
	if err != nil {
		return err
	}
	fields := differing(nil, c.Fields)
	if len(c.Secrets) > 0 {
		fields = append(fields, Field{"auth.secret", nil, hidden})
	}
	if c.Env != nil {
		fields = append(fields, Field{"env", nil, slugs(c.Env)})
	}
	p.add(Step{Create, "connector", slug, fields, func(ctx context.Context, api *client.Client) error {
		_, err := api.CreateConnector(ctx, create)
		return err
	}})
	return nil
}

// auth is how one signs in, with the secrets.
func (c Connector) auth() map[string]any {
	auth := map[string]any{}
	fields, _ := c.Fields["auth"].(map[string]any)
	for name, v := range fields {
		auth[name] = v
	}
	for name, v := range c.Secrets {
		auth[name] = v
	}
	return auth
}

// stillAt refuses to hand a secret to a server that was not meant: somebody may have changed the connector's address meanwhile.
func stillAt(ctx context.Context, api *client.Client, connector string, address any) error {
	is, err := api.GetConnector(ctx, connector)
	if err == nil && is.URL != address {
		err = errors.New("its address was changed meanwhile, and the secret is not for whoever is there now")
	}
	return err
}

func secretPut(secrets map[string]string) (client.SecretPut, error) {
	doc := Document{}
	for name, v := range secrets {
		doc[name] = v
	}
	return into[client.SecretPut](doc)
}

func (p *planner) agent(ctx context.Context, slug string, a Agent) error {
	is, there := p.is.Agents[slug]
	switch fields := differing(documentOf(is), a.Fields); {
	case !there:
		whole := Document{"slug": slug, "name": slug}
		for name, v := range a.Fields {
			whole[name] = v
		}
		create, err := into[client.AgentCreate](whole)
		if err != nil {
			return err
		}
		p.add(Step{Create, "agent", slug, differing(nil, a.Fields), func(ctx context.Context, api *client.Client) error {
			_, err := api.CreateAgent(ctx, create)
			return err
		}})
	case len(fields) > 0:
		patch, err := into[client.AgentPatch](within(a.Fields, fields))
		if err != nil {
			return err
		}
		p.add(Step{Change, "agent", slug, fields, func(ctx context.Context, api *client.Client) error {
			_, err := api.UpdateAgent(ctx, slug, patch)
			return err
		}})
	}
	for _, connector := range slugs(a.Grants) {
		if err := p.grant(ctx, slug, connector, a.Grants[connector]); err != nil {
			return fmt.Errorf("%s: %w", connector, err)
		}
	}
	if a.Grants == nil {
		return nil
	}
	for _, connector := range slugs(p.is.Grants[slug]) {
		if _, wanted := a.Grants[connector]; !wanted {
			p.add(Step{Delete, "grant", slug + " " + connector, nil, func(ctx context.Context, api *client.Client) error {
				return api.DropConnector(ctx, slug, connector)
			}})
		}
	}
	return nil
}

func (p *planner) grant(ctx context.Context, agent, connector string, g Grant) error {
	is, there := p.is.Grants[agent][connector]
	action, had := Create, Document(nil)
	if there {
		action, had = Change, grantDocument(is.Tools, is.Approval, is.TrustedTools)
	}
	if fields := differing(had, grantDocument(g.Put.Tools, g.Put.Approval, g.Put.TrustedTools)); !there || len(fields) > 0 {
		p.add(Step{action, "grant", agent + " " + connector, fields, func(ctx context.Context, api *client.Client) error {
			return api.GrantConnector(ctx, agent, connector, g.Put)
		}})
	}
	if g.Secrets == nil {
		return nil
	}
	entered, err := secretPut(g.Secrets)
	if err != nil {
		return err
	}
	same := false
	if _, hasAgent := p.is.Agents[agent]; hasAgent {
		if _, hasConnector := p.is.Connectors[connector]; hasConnector {
			if same, err = sameOwn(ctx, p.api, connector, agent, entered); err != nil {
				return err
			}
		}
	}
	if !same {
		at := p.file.Connectors[connector].Fields["url"]
		if at == nil {
			at = p.is.Connectors[connector].URL
		}
		p.add(Step{Change, "credential", connector + " " + agent, []Field{{"auth", hidden, hidden}}, func(ctx context.Context, api *client.Client) error {
			if err := stillAt(ctx, api, connector, at); err != nil {
				return err
			}
			return api.SetAgentCredential(ctx, connector, agent, entered)
		}})
	}
	return nil
}

// grantDocument is a grant in an order of its own, so that two can be held against each other.
func grantDocument(tools client.ToolSet, approval *string, trusted []string) Document {
	doc := documentOf(client.AgentGrantPut{Tools: tools, Approval: approval, TrustedTools: trusted})
	for _, name := range []string{"tools", "trusted_tools"} {
		doc[name] = sorted(doc[name])
	}
	if doc["approval"] == nil {
		doc["approval"] = ""
	}
	return doc
}

// prune deletes what the file does not name: agents first, then connectors.
func (p *planner) prune() {
	for _, slug := range slugs(p.is.Agents) {
		if _, named := p.file.Agents[slug]; !named {
			p.add(Step{Delete, "agent", slug, nil, func(ctx context.Context, api *client.Client) error { return api.DeleteAgent(ctx, slug) }})
		}
	}
	for _, slug := range slugs(p.is.Connectors) {
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
