package ctl

import (
	"context"

	"patchbay/client"
)

type agentAllowances struct{ agentRef }

// Run prints a row for each allowance.
func (c agentAllowances) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllAgentAllowances(ctx, c.Agent, client.ListAgentAllowancesQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("CONNECTOR", "KIND", "TOOL", "UNTIL", "ALLOWED BY", "IN FORCE")
	for _, a := range list {
		t.addRow(a.Connector, a.Kind, a.Tool, a.Until, a.GrantedBy, a.InForce)
	}
	return s.printValue(list, t)
}

type agentEndAllowance struct {
	agentRef
	Connector string `arg:"" help:"The connector's slug or id."`
	Tool      string `arg:"" help:"The server's name for the tool or prompt, or the resource's URI."`
	Kind      string `enum:"tool,prompt,resource" default:"tool" help:"tool, prompt or resource (${default})."`
}

// Run ends the allowance.
func (c agentEndAllowance) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.EndAgentAllowance(ctx, c.Agent, c.Connector, c.Tool, client.EndAgentAllowanceQuery{Kind: c.Kind}); err != nil {
		return err
	}
	return s.printSentence(nil, "%s needs approval for %s again.", c.Agent, c.Tool)
}
