package ctl

import (
	"context"
	"errors"
	"strings"
	"time"

	"patchbay/client"
)

type agentCommands struct {
	List         agentList         `cmd:"" help:"List agents."`
	Get          agentGet          `cmd:"" help:"Show an agent as JSON."`
	Add          agentAdd          `cmd:"" help:"Create an agent."`
	Delete       agentDelete       `cmd:"" help:"Delete an agent with its tokens and credentials."`
	Workloads    workloadCommands  `cmd:"" help:"Manage workloads, which get the agent's tokens without a stored secret."`
	Grants       agentGrants       `cmd:"" help:"List an agent's grants."`
	Grant        agentGrant        `cmd:"" help:"Grant an agent access to a connector: all its tools, or some."`
	Drop         agentDrop         `cmd:"" help:"Remove an agent's access to a connector."`
	Allowances   agentAllowances   `cmd:"" help:"List an agent's standing approvals."`
	EndAllowance agentEndAllowance `cmd:"" help:"End a standing approval."`
	Shape        agentShape        `cmd:"" help:"Shorten a tool's answers for an agent."`
	Why          agentWhy          `cmd:"" help:"Explain whether an agent may call a tool."`
}

type agentRef struct {
	Agent string `arg:"" help:"The agent's slug or id."`
}

type agentList struct{}

// Run prints a row for each agent.
func (agentList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllAgents(ctx, client.ListAgentsQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("AGENT", "NAME", "ENABLED", "APPROVAL", "CREATED")
	for _, a := range list {
		t.addRow(a.Slug, a.Name, a.Enabled, a.Approval, a.CreatedAt)
	}
	return s.printValue(list, t)
}

type agentGet struct{ agentRef }

// Run prints the agent as JSON.
func (c agentGet) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	agent, err := api.GetAgent(ctx, c.Agent)
	if err != nil {
		return err
	}
	return s.printJSON(agent)
}

type agentAdd struct {
	Name     string `arg:"" help:"The agent's name."`
	Approval string `enum:"auto,always_ask,trusted_only,always_ask_all," default:"" help:"auto, always_ask, trusted_only or always_ask_all: which calls need approval. Default: the tenant's."`
	ToolList string `enum:"full,lean,auto," default:"" help:"full, lean or auto: what tools/list contains. Default: full."`
}

// Run creates the agent.
func (c agentAdd) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	in := client.AgentCreate{Name: c.Name}
	if c.Approval != "" {
		in.Approval = &c.Approval
	}
	if c.ToolList != "" {
		in.ToolList = &c.ToolList
	}
	made, err := api.CreateAgent(ctx, in)
	if err != nil {
		return err
	}
	return s.printSentence(made, "%s", made.Slug)
}

type agentDelete struct{ agentRef }

// Run deletes the agent.
func (c agentDelete) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DeleteAgent(ctx, c.Agent); err != nil {
		return err
	}
	return s.printSentence(nil, "Deleted %s.", c.Agent)
}

type agentGrants struct{ agentRef }

// Run prints a row for each connector.
func (c agentGrants) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllAgentConnectors(ctx, c.Agent, client.ListAgentConnectorsQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("CONNECTOR", "TOOLS", "PROMPTS", "RESOURCES", "APPROVAL", "TRUSTED", "SINCE", "UNTIL")
	for _, g := range list {
		t.addRow(g.Connector, toolNames(g.Tools), g.Prompts, g.Resources, g.Approval, g.TrustedTools, g.CreatedAt, g.Ends.Until)
	}
	return s.printValue(list, t)
}

type agentGrant struct {
	agentRef
	Connector string   `arg:"" help:"The connector's slug or id."`
	All       bool     `help:"All tools, including those of later syncs."`
	Tools     []string `placeholder:"TOOL" help:"Only these tools, by their server's names."`
	Trusted   []string `placeholder:"TOOL" help:"Tools that need no approval when others do."`
	Pinned    []string `placeholder:"TOOL" help:"Tools that stay in a lean list. Unset: unchanged."`
	Account   []string `placeholder:"NAME" help:"The account to use, if there are several. Repeated: the agent gets the connector once for each. Unset: unchanged."`
	Approval  string   `enum:"auto,always_ask,trusted_only,always_ask_all," default:"" help:"Overrides the agent's approval mode."`
	Prompts   string   `enum:"none,listed," default:"" help:"none or listed. Unset: unchanged; for a new grant, listed with --all, else none."`
	Resources string   `enum:"none,listed,listed_and_templates," default:"" help:"none, listed or listed_and_templates. Unset: as for prompts."`
	NoEnd     bool     `xor:"end" help:"Access has no end. Unset, without --until and --for: unchanged."`
	endFlags
}

// Run replaces the agent's grant for the connector.
func (c agentGrant) Run(ctx context.Context, s *session) error {
	if c.All == (len(c.Tools) > 0) {
		return errors.New("use --all or --tools: they replace the current grant")
	}
	until, err := c.chosenEnd()
	if err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	in := client.AgentGrantPut{Tools: client.ToolSet{All: c.All, Names: c.Tools}, TrustedTools: c.Trusted, PinnedTools: c.Pinned}
	if len(c.Account) == 1 {
		in.Account = &c.Account[0]
	} else {
		in.Accounts = c.Account
	}
	if until != nil || c.NoEnd {
		in.Ends = &client.GrantEnds{Until: until}
	}
	if c.Approval != "" {
		in.Approval = &c.Approval
	}
	if c.Prompts != "" {
		in.Prompts = &c.Prompts
	}
	if c.Resources != "" {
		in.Resources = &c.Resources
	}
	if err := api.GrantConnector(ctx, c.Agent, c.Connector, in); err != nil {
		return err
	}
	return s.printSentence(nil, "%s can use %s.", c.Agent, c.Connector)
}

type agentDrop struct {
	agentRef
	Connector string `arg:"" help:"The connector's slug or id."`
}

// Run deletes the grant.
func (c agentDrop) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DropConnector(ctx, c.Agent, c.Connector); err != nil {
		return err
	}
	return s.printSentence(nil, "%s can no longer use %s.", c.Agent, c.Connector)
}

type agentWhy struct {
	agentRef
	Tool string `arg:"" help:"The tool's name for agents: mcp_CONNECTOR__TOOL."`
}

// Run prints the explanation and the advice.
func (c agentWhy) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	why, err := api.WhyAgentTool(ctx, c.Agent, c.Tool)
	if err != nil {
		return err
	}
	t := newTable("TOOL", "SEES IT", "MAY CALL IT", "NEEDS APPROVAL", "WHAT TO DO", "NOT CHECKED", "PROMPTS", "RESOURCES")
	t.addRow(why.Tool, why.Sees, why.MayCall, why.Asks, why.Advice, uncheckedParts(why.Unchecked), itemAccess(why.Prompts, why), itemAccess(why.Resources, why))
	return s.printValue(why, t)
}

// itemAccess is a grant's choice of prompts or resources; nil: nothing is granted.
func itemAccess(choice *string, why client.Why) string {
	switch {
	case choice == nil:
		return ""
	case why.ItemsUnasked && *choice != "none":
		return *choice + ", without approval"
	}
	return *choice
}

// uncheckedParts names the parts of a schema that arguments are not checked by.
func uncheckedParts(all []client.Unchecked) string {
	names := make([]string, len(all))
	for i, u := range all {
		names[i] = strings.TrimPrefix(u.Place+" "+u.Reason, " ")
	}
	return strings.Join(names, ", ")
}

type tokenCommands struct {
	List   tokenList   `cmd:"" help:"List an agent's tokens."`
	Create tokenCreate `cmd:"" help:"Create a token and print it once."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token; it stops working within a second."`
}

type tokenList struct{ agentRef }

// Run prints a row for each token.
func (c tokenList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllAgentTokens(ctx, c.Agent, client.ListAgentTokensQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("ID", "NAME", "BEGINS WITH", "LAST USED", "EXPIRES")
	for _, token := range list {
		t.addRow(token.ID, token.Name, token.Prefix, token.LastUsedAt, token.ExpiresAt)
	}
	return s.printValue(list, t)
}

type tokenCreate struct {
	agentRef
	Name    string        `placeholder:"NAME" help:"What the token is for."`
	Expires time.Duration `placeholder:"DURATION" help:"Lifetime, such as 720h. Unset: never expires."`
}

// Run prints the token alone, for scripts.
func (c tokenCreate) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var in client.AgentTokenCreate
	if c.Name != "" {
		in.Name = &c.Name
	}
	if c.Expires != 0 {
		in.ExpiresAt = new(time.Now().Add(c.Expires))
	}
	made, err := api.CreateAgentToken(ctx, c.Agent, in)
	if err != nil {
		return err
	}
	return s.printSentence(made, "%s", *made.Token)
}

type tokenRevoke struct {
	agentRef
	ID string `arg:"" help:"The token's id."`
}

// Run revokes the token.
func (c tokenRevoke) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.RevokeAgentToken(ctx, c.Agent, c.ID); err != nil {
		return err
	}
	return s.printSentence(nil, "Revoked %s.", c.ID)
}
