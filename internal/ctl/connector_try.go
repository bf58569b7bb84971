package ctl

import (
	"context"

	"patchbay/client"
)

type connectorTry struct {
	connectorRef
	Tool      string `arg:"" help:"The tool, by the server's own name."`
	Arguments string `arg:"" optional:"" default:"{}" placeholder:"JSON|@FILE|-" help:"Its arguments, a JSON object; @FILE names a file, - is the standard input."`
	Agent     string `placeholder:"AGENT" help:"With this agent's credential. Needed where each agent has its own."`
	Confirm   bool   `help:"Call a tool, too, that may change or delete data, or that waits for acceptance; else the API refuses it."`
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
