package ctl

import (
	"context"
	"strings"

	"patchbay/client"
)

type changeCommands struct {
	List    changeList    `cmd:"" help:"List changes."`
	Accept  changeAccept  `cmd:"" help:"Accept a tool's or skill's current definition."`
	Reject  changeReject  `cmd:"" help:"Reject a tool's current definition and stop serving the tool."`
	Keep    changeKeep    `cmd:"" help:"Keep serving the accepted definition until the next change."`
	Restore changeRestore `cmd:"" help:"Restore an earlier definition of a tool or skill."`
	Decide  changeDecide  `cmd:"" help:"Decide all waiting changes of a connector."`
}

type changeList struct {
	State     string `enum:"waiting,accepted,rejected,kept,automatic,superseded,any" default:"waiting" help:"waiting, accepted, rejected, kept, automatic, superseded or any (${default})."`
	Connector string `placeholder:"CONNECTOR" help:"Filter by connector."`
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

// skillURI returns the URI of a skill, which the list of changes names so.
func (v changeVerdict) skillURI() (uri string, isSkill bool) {
	return strings.CutPrefix(v.Tool, "skill:")
}

// changeVerdict decides one definition of a tool or skill; later changes are not decided.
type changeVerdict struct {
	connectorRef
	Tool string `arg:"" help:"The server's name for the tool, or skill: and a skill's URI, as listed."`
	Hash string `required:"" placeholder:"HASH" help:"Hash of the reviewed definition, from the list. Fails if the server has changed the tool since."`
}

func (v changeVerdict) toRequest() client.ToolVerdict { return client.ToolVerdict{Hash: &v.Hash} }

type changeAccept struct{ changeVerdict }

// Run accepts the definition.
func (c changeAccept) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if uri, isSkill := c.skillURI(); isSkill {
		skill, err := api.AcceptSkill(ctx, c.Connector, uri, c.toRequest())
		if err != nil {
			return err
		}
		return s.printSentence(skill, "Accepted the current definition of %s.", skill.Name)
	}
	tool, err := api.AcceptTool(ctx, c.Connector, c.Tool, c.toRequest())
	if err != nil {
		return err
	}
	return s.printSentence(tool, "Accepted the current definition of %s.", tool.Name)
}

type changeReject struct{ changeVerdict }

// Run rejects the definition.
func (c changeReject) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if uri, isSkill := c.skillURI(); isSkill {
		skill, err := api.RejectSkill(ctx, c.Connector, uri, c.toRequest())
		if err != nil {
			return err
		}
		return s.printSentence(skill, "Rejected the current definition of %s.", skill.Name)
	}
	tool, err := api.RejectTool(ctx, c.Connector, c.Tool, c.toRequest())
	if err != nil {
		return err
	}
	return s.printSentence(tool, "Rejected the current definition of %s.", tool.Name)
}

type changeKeep struct{ changeVerdict }

// Run keeps the accepted definition.
func (c changeKeep) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	tool, err := api.KeepTool(ctx, c.Connector, c.Tool, c.toRequest())
	if err != nil {
		return err
	}
	return s.printSentence(tool, "Keeping the accepted definition of %s.", tool.Name)
}

type changeRestore struct{ changeVerdict }

// Run goes back to an earlier definition.
func (c changeRestore) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if uri, isSkill := c.skillURI(); isSkill {
		skill, err := api.RestoreSkill(ctx, c.Connector, uri, client.EarlierVersion{Hash: c.Hash})
		if err != nil {
			return err
		}
		return s.printSentence(skill, "Restored an earlier definition of %s.", skill.Name)
	}
	tool, err := api.RestoreTool(ctx, c.Connector, c.Tool, client.EarlierVersion{Hash: c.Hash})
	if err != nil {
		return err
	}
	return s.printSentence(tool, "Restored an earlier definition of %s.", tool.Name)
}

// changeDecide decides the changes that wait when it runs; a change that comes meanwhile is not decided.
type changeDecide struct {
	connectorRef
	Verdict string `required:"" enum:"accept,reject,keep" help:"accept, reject or keep."`
	Risky   bool   `help:"Also accept high-risk changes."`
}

// Run decides the changes.
func (c changeDecide) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllToolChanges(ctx, client.ListToolChangesQuery{State: "waiting", Connector: c.Connector, Limit: pageSize}))
	if err != nil {
		return err
	}
	request := client.ChangeDecisions{Verdict: c.Verdict}
	for _, change := range list {
		if change.AfterHash != nil && (c.Verdict != "accept" || c.Risky || change.Risk != "high") {
			request.Changes = append(request.Changes, client.ChangeDecision{Connector: change.ConnectorSlug, Tool: change.Tool, Hash: *change.AfterHash})
		}
	}
	if len(request.Changes) == 0 {
		return s.printSentence(client.Decided{}, "No changes to decide; %d waiting.", len(list))
	}
	decided, err := api.DecideToolChanges(ctx, request)
	if err != nil {
		return err
	}
	return s.printSentence(decided, "%d changes decided, %d waiting.", decided.Decided, len(list)-int(decided.Decided))
}
