package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patchbay/client"
)

type callCommand struct {
	agentRef
	Tool      string `arg:"" help:"The tool, as the agent sees it."`
	Arguments string `arg:"" optional:"" default:"{}" placeholder:"JSON|@FILE|-" help:"Its arguments, a JSON object; @FILE names a file, - is the standard input."`
}

// Run fails where the call does. A call that waits or goes on is shown as it is by then.
func (c callCommand) Run(ctx context.Context, s *session) error {
	text, err := s.input(c.Arguments)
	if err != nil {
		return err
	}
	in := client.ToolCallCreate{Tool: c.Tool}
	if err := json.Unmarshal(text, &in.Arguments); err != nil || in.Arguments == nil {
		return errors.New("the arguments are no JSON object")
	}
	api, err := s.client()
	if err != nil {
		return err
	}
	call, err := api.CallTool(ctx, c.Agent, in)
	if err != nil {
		return err
	}
	if err := s.result(call); err != nil {
		return err
	}
	if call.Error != nil {
		return errors.New(plain(call.Error.Message))
	}
	if call.IsError {
		return errors.New("the tool says that it failed")
	}
	return nil
}

// result shows what a call answered: of content that is text the text, else the JSON.
func (s *session) result(call client.ToolCall) error {
	if s.flags.Output == "json" {
		return s.json(call)
	}
	var content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if call.Status != "success" && call.Status != "error" {
		return s.say(nil, "The call %s is %s.", call.ID, call.Status)
	}
	if err := json.Unmarshal(call.Content, &content); err != nil {
		_, err = fmt.Fprintln(s.world.Out, plain(string(call.Content))) // whatever it is
		return err
	}
	for _, part := range content {
		text := part.Text
		if part.Type != "text" {
			text = "(" + part.Type + ": --output json shows it)"
		}
		if _, err := fmt.Fprintln(s.world.Out, Lines(text)); err != nil {
			return err
		}
	}
	return nil
}

type callsCommands struct {
	List   callsList  `cmd:"" help:"List calls, the latest first."`
	Get    callGet    `cmd:"" help:"Show a call, whole."`
	Cancel callCancel `cmd:"" help:"End a call that waits or runs."`
}

type callsList struct {
	Agent     string `placeholder:"AGENT" help:"Of this agent."`
	Connector string `placeholder:"CONNECTOR" help:"Of this connector."`
	Status    string `placeholder:"STATUS" help:"In this state, as running or error."`
	Tool      string `placeholder:"TOOL" help:"Of this tool."`
	Limit     int    `default:"50" help:"How many at most (${default})."`
}

// Run prints a row for each.
func (c callsList) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	q := client.ListToolCallsQuery{Agent: c.Agent, Connector: c.Connector, Status: c.Status, Tool: c.Tool, Limit: min(c.Limit, pageSize)}
	list := []client.ToolCall{}
	for call, err := range api.AllToolCalls(ctx, q) {
		if err != nil {
			return err
		}
		if list = append(list, call); len(list) >= c.Limit {
			break
		}
	}
	t := newTable("ID", "STARTED", "AGENT", "CONNECTOR", "TOOL", "STATUS", "MS", "ERROR")
	for _, call := range list {
		var wrong any
		if call.Error != nil {
			wrong = short(call.Error.Message)
		}
		t.row(call.ID, call.StartedAt, call.Agent, call.Connector, call.Tool, call.Status, call.DurationMS, wrong)
	}
	return s.print(list, t)
}

// callRef names one.
type callRef struct {
	ID string `arg:"" help:"The call's id."`
}

type callGet struct{ callRef }

// Run prints it as JSON.
func (c callGet) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	call, err := api.GetToolCall(ctx, c.ID)
	if err != nil {
		return err
	}
	return s.json(call)
}

type callCancel struct{ callRef }

// Run ends it.
func (c callCancel) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	call, err := api.CancelToolCall(ctx, c.ID)
	if err != nil {
		return err
	}
	return s.say(call, "The call is %s.", call.Status)
}

type approvalCommands struct {
	List    approvalList    `cmd:"" help:"List the calls that wait for a person."`
	Approve approvalApprove `cmd:"" help:"Agree to a call; it is made then, once."`
	Deny    approvalDeny    `cmd:"" help:"Refuse a call."`
}

type approvalList struct{}

// Run prints a row for each.
func (approvalList) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	list, err := all(api.AllApprovals(ctx, client.ListApprovalsQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("ID", "ASKED", "UNTIL", "TOOL", "EFFECT", "ARGUMENTS")
	for _, a := range list {
		t.row(a.ID, a.AskedAt, a.ExpiresAt, a.Name, a.Effect, short(string(a.Arguments)))
	}
	return s.print(list, t)
}

type approvalApprove struct {
	callRef
	For time.Duration `placeholder:"DURATION" help:"And let the agent call this tool without a question for so long, as 2h."`
}

// Run agrees.
func (c approvalApprove) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	var in client.Approve
	if c.For != 0 {
		in.AllowForS = new(int64(c.For / time.Second))
	}
	call, err := api.ApproveToolCall(ctx, c.ID, in)
	if err != nil {
		return err
	}
	return s.say(call, "The call is %s.", call.Status)
}

type approvalDeny struct {
	callRef
	Reason string `placeholder:"TEXT" help:"What the agent is told."`
}

// Run refuses.
func (c approvalDeny) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	var in client.Deny
	if c.Reason != "" {
		in.Reason = &c.Reason
	}
	call, err := api.DenyToolCall(ctx, c.ID, in)
	if err != nil {
		return err
	}
	return s.say(call, "The call is %s.", call.Status)
}
