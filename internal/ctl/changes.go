package ctl

import (
	"context"

	"patchbay/client"
)

type changeCommands struct {
	List   changeList   `cmd:"" help:"List what has changed."`
	Accept changeAccept `cmd:"" help:"Serve a tool as it is now."`
	Reject changeReject `cmd:"" help:"Serve a tool as it was, or not at all where it is new."`
}

type changeList struct {
	State     string `enum:"waiting,accepted,rejected,automatic,superseded,any" default:"waiting" help:"waiting, accepted, rejected, automatic, superseded or any (${default})."`
	Connector string `placeholder:"CONNECTOR" help:"Of this connector."`
}

// Run prints a row for each change.
func (c changeList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllToolChanges(ctx, client.ListToolChangesQuery{State: c.State, Connector: c.Connector, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("SEEN", "CONNECTOR", "TOOL", "RISK", "WHAT", "AGENTS", "CALLS IN 30 DAYS", "STATE", "HASH")
	for _, change := range list {
		t.addRow(change.SeenAt, change.ConnectorSlug, change.Tool, change.Risk, change.Kinds, change.Agents, change.Calls30d, change.State, change.AfterHash)
	}
	return s.printValue(list, t)
}

// changeVerdict decides one definition of a tool; later changes are not decided.
type changeVerdict struct {
	connectorRef
	Tool string `arg:"" help:"The tool, as its server calls it."`
	Hash string `required:"" placeholder:"HASH" help:"The definition that was looked at, as the list has it; where the server has another one by now, nothing is decided."`
}

func (v changeVerdict) toRequest() client.ToolVerdict { return client.ToolVerdict{Hash: &v.Hash} }

type changeAccept struct{ changeVerdict }

// Run accepts the definition.
func (c changeAccept) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	tool, err := api.AcceptTool(ctx, c.Connector, c.Tool, c.toRequest())
	if err != nil {
		return err
	}
	return s.printSentence(tool, "%s is now served in its new version.", tool.Name)
}

type changeReject struct{ changeVerdict }

// Run rejects the definition.
func (c changeReject) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	tool, err := api.RejectTool(ctx, c.Connector, c.Tool, c.toRequest())
	if err != nil {
		return err
	}
	return s.printSentence(tool, "The new version of %s is not served.", tool.Name)
}
