package ctl

import (
	"context"
	"errors"

	"patchbay/client"
)

type agentShape struct {
	agentRef
	Connector string `arg:"" help:"The connector's slug or id."`
	Tool      string `arg:"" help:"The server's name for the tool."`
	Fields    string `placeholder:"JQ" help:"A jq filter that chooses fields of answers in JSON."`
	Budget    int    `placeholder:"TOKENS" help:"Estimated tokens of an answer."`
	Off       bool   `help:"Give whole answers again."`
	Preview   bool   `help:"Show what the rule does to the last answers in the call history, and change nothing."`
}

// Run sets or previews the rule.
func (c agentShape) Run(ctx context.Context, s *session) error {
	if rule := c.Fields != "" || c.Budget != 0; c.Off == rule && !c.Preview || c.Off && c.Preview {
		return errors.New("use --fields, --budget or both, or --off")
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if c.Off {
		if err := api.ClearAgentShaping(ctx, c.Agent, c.Connector, c.Tool); err != nil {
			return err
		}
		return s.printSentence(nil, "%s gets whole answers from %s.", c.Agent, c.Tool)
	}
	rule := client.Shaping{Fields: &c.Fields, Budget: new(int64(c.Budget))}
	if c.Preview {
		return c.printPreview(ctx, s, api, rule)
	}
	if err := api.SetAgentShaping(ctx, c.Agent, c.Connector, c.Tool, rule); err != nil {
		return err
	}
	return s.printSentence(nil, "%s gets shorter answers from %s.", c.Agent, c.Tool)
}

func (c agentShape) printPreview(ctx context.Context, s *session, api *client.Client, rule client.Shaping) error {
	p, err := api.PreviewAgentShaping(ctx, c.Agent, c.Connector, c.Tool, rule)
	if err != nil {
		return err
	}
	t := newTable("CALL", "TOKENS", "SHORTENED TO", "LEFT OUT")
	for _, a := range p.Answers {
		t.addRow(a.CallID, a.TokensBefore, a.TokensAfter, a.Summary)
	}
	return s.printValue(p, t)
}
