package ctl

import (
	"context"

	"patchbay/client"
)

type connectorTry struct {
	connectorRef
	Tool      string `arg:"" help:"The server's name for the tool."`
	Arguments string `arg:"" optional:"" default:"{}" placeholder:"JSON|@FILE|-" help:"Arguments as a JSON object; @FILE for a file, - for standard input."`
	Agent     string `placeholder:"AGENT" help:"Use this agent's credential. Required if each agent has its own."`
	Confirm   bool   `help:"Also call tools that may change or delete data, or that wait for acceptance."`
}

// Run fails if the call does.
func (c connectorTry) Run(ctx context.Context, s *session) error {
	arguments, err := s.readArguments(c.Arguments)
	if err != nil {
		return err
	}
	in := client.ToolTry{Arguments: arguments, Confirm: &c.Confirm}
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	call, err := api.TryTool(ctx, c.Connector, c.Tool, client.TryToolQuery{}, in)
	if err != nil {
		return err
	}
	return s.printCall(call)
}
