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
	Tool      string        `arg:"" help:"The tool's name for agents."`
	Arguments string        `arg:"" optional:"" default:"{}" placeholder:"JSON|@FILE|-" help:"Arguments as a JSON object; @FILE for a file, - for standard input."`
	Timeout   time.Duration `placeholder:"DURATION" help:"Time limit for the server, such as 5s. Default and maximum: the connector's timeout."`
}

// Run fails if the call does. A waiting or running call is printed with its state.
func (c callCommand) Run(ctx context.Context, s *session) error {
	arguments, err := s.readArguments(c.Arguments)
	if err != nil {
		return err
	}
	in := client.ToolCallCreate{Tool: c.Tool, Arguments: arguments}
	switch {
	case c.Timeout < 0 || c.Timeout > 0 && c.Timeout < time.Millisecond:
		return errors.New("the timeout must be at least 1ms")
	case c.Timeout > 0:
		in.TimeoutMS = new(c.Timeout.Milliseconds())
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	call, err := api.CallTool(ctx, c.Agent, client.CallToolQuery{}, in)
	if err != nil {
		return err
	}
	return s.printCall(call)
}

// readArguments reads a call's arguments, a JSON object.
func (s *session) readArguments(arg string) (object map[string]json.RawMessage, err error) {
	text, err := s.readInput(arg)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, errors.New("the arguments must be a JSON object")
	}
	return object, nil
}

// printCall prints a call. The error is that of a call that failed.
func (s *session) printCall(call client.ToolCall) error {
	if err := s.printResult(call); err != nil {
		return err
	}
	if call.Error != nil {
		return newServerError(call.Error.Message, call.Upstream)
	}
	if call.IsError {
		return errors.New("the tool reported an error")
	}
	return nil
}

// printResult prints a call's text content, else its JSON.
func (s *session) printResult(call client.ToolCall) error {
	if s.flags.Output == "json" {
		return s.printJSON(call)
	}
	var content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if call.Status != "success" && call.Status != "error" {
		return s.printSentence(nil, "The call %s is %s.", call.ID, call.Status)
	}
	if err := json.Unmarshal(call.Content, &content); err != nil {
		_, err = fmt.Fprintln(s.world.Out, escapeText(string(call.Content))) // unknown content
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
	List   callsList  `cmd:"" help:"List calls, newest first."`
	Get    callGet    `cmd:"" help:"Show a call as JSON."`
	Cancel callCancel `cmd:"" help:"Cancel a waiting or running call."`
}

type callsList struct {
	Agent     string `placeholder:"AGENT" help:"Filter by agent."`
	Connector string `placeholder:"CONNECTOR" help:"Filter by connector."`
	Status    string `placeholder:"STATUS" help:"Filter by status: pending_approval, running, success, error, denied or cancelled."`
	Tool      string `placeholder:"TOOL" help:"Filter by tool."`
	Limit     int    `default:"50" help:"Maximum number of calls (${default})."`
}

// Run prints a row for each call.
func (c callsList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
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
	t := newTable("ID", "STARTED", "AGENT", "CONNECTOR", "TOOL", "STATUS", "MS", "WAITED MS", "ERROR")
	for _, call := range list {
		var wrong any
		if call.Error != nil {
			wrong = shorten(call.Error.Message)
		}
		t.addRow(call.ID, call.StartedAt, call.Agent, call.Connector, call.Tool, call.Status, call.DurationMS, call.ApprovalWaitMS, wrong)
	}
	return s.printValue(list, t)
}

type callRef struct {
	ID string `arg:"" help:"The call's id."`
}

type callGet struct{ callRef }

// Run prints the call as JSON.
func (c callGet) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	call, err := api.GetToolCall(ctx, c.ID, client.GetToolCallQuery{})
	if err != nil {
		return err
	}
	return s.printJSON(call)
}

type callCancel struct{ callRef }

// Run cancels the call.
func (c callCancel) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	call, err := api.CancelToolCall(ctx, c.ID)
	if err != nil {
		return err
	}
	return s.printSentence(call, "The call is %s.", call.Status)
}

type approvalCommands struct {
	List    approvalList    `cmd:"" help:"List calls that wait for approval."`
	Approve approvalApprove `cmd:"" help:"Approve a call, which then runs once."`
	Deny    approvalDeny    `cmd:"" help:"Deny a call."`
}

type approvalList struct{}

// Run prints a row for each approval.
func (approvalList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllApprovals(ctx, client.ListApprovalsQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("ID", "ASKED", "UNTIL", "KIND", "NAME", "EFFECT", "ARGUMENTS")
	for _, a := range list {
		t.addRow(a.ID, a.AskedAt, a.ExpiresAt, a.Kind, a.Name, a.Effect, shorten(string(a.Arguments)))
	}
	return s.printValue(list, t)
}

type approvalApprove struct {
	callRef
	For time.Duration `placeholder:"DURATION" help:"Also allow this tool, prompt or resource without approval for this long, such as 2h."`
}

// Run approves the call.
func (c approvalApprove) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
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
	return s.printSentence(call, "The call is %s.", call.Status)
}

type approvalDeny struct {
	callRef
	Reason string `placeholder:"TEXT" help:"Sent to the agent."`
}

// Run denies the call.
func (c approvalDeny) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
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
	return s.printSentence(call, "The call is %s.", call.Status)
}
