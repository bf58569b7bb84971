package admin

import (
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// callRow is a call in a list.
func callRow(c connectors.ToolCall, can templates.Can, now time.Time) templates.CallRow {
	row := templates.CallRow{
		ID:        c.ID.String(),
		Href:      callPath(c.ID),
		Tool:      shorten(c.Tool, maxName),
		Agent:     c.AgentSlug,
		Connector: c.ConnectorSlug,
		State:     callState(c.Status),
		Reason:    callReason(c),
		Started:   when(c.StartedAt, now),
		Duration:  took(callDuration(c, now)),
	}
	if c.Kind != connectors.CallTool {
		row.Kind = string(c.Kind)
	}
	if c.Status.Ended() {
		return row
	}
	row.Since, row.Progress = c.StartedAt.UTC().Format(time.RFC3339Nano), callProgress(c)
	row.Percent = percentDone(c.Progress)
	if can.Sync {
		row.Cancel = callPath(c.ID) + "/cancel"
	}
	return row
}

func callPath(id connectors.ToolCallID) string { return "/calls/" + id.String() }

// callDuration is how long a call took, or takes by now.
func callDuration(c connectors.ToolCall, now time.Time) time.Duration {
	if c.Status.Ended() {
		return c.Duration
	}
	return max(0, now.Sub(c.StartedAt))
}

func callState(s connectors.CallStatus) templates.State {
	switch s {
	case connectors.CallPendingApproval:
		return templates.State{Kind: templates.StateWarn, Text: "Waits for a person"}
	case connectors.CallRunning:
		return templates.State{Kind: templates.StateBusy, Text: "Running"}
	case connectors.CallSuccess:
		return templates.State{Kind: templates.StateOK, Text: "Success"}
	case connectors.CallError:
		return templates.State{Kind: templates.StateBad, Text: "Error"}
	case connectors.CallDenied:
		return templates.State{Kind: templates.StateBad, Text: "Denied"}
	default:
		return templates.State{Kind: templates.StateOff, Text: "Cancelled"}
	}
}

// callReason is why a call did not succeed, in our words; empty: it did, or has not ended.
func callReason(c connectors.ToolCall) string {
	switch {
	case c.Undelivered():
		return c.ErrorMessage
	case c.Status != connectors.CallError && c.Status != connectors.CallDenied:
		return ""
	case c.ErrorMessage != "":
		return shorten(c.ErrorMessage, maxAbout)
	default:
		return outcomeName(c.Outcome)
	}
}

// outcomeName says what kind of end a call had.
func outcomeName(o connectors.CallOutcome) string {
	switch o {
	case connectors.OutcomeOK:
		return "A result"
	case connectors.OutcomeToolError:
		return "The tool reports an error"
	case connectors.OutcomeRPCError:
		return "The server refused the request"
	case connectors.OutcomeTransport:
		return "The server did not answer as it should"
	case connectors.OutcomeRefused:
		return "Refused before anything was sent"
	case connectors.OutcomeDenied:
		return "Denied by a person"
	case connectors.OutcomeCancelled:
		return "Cancelled"
	case connectors.OutcomeLost:
		return "Unknown: Patchbay stopped meanwhile"
	default:
		return ""
	}
}

func sourceName(s connectors.CallSource) string {
	switch s {
	case connectors.SourceGateway:
		return "The gateway"
	case connectors.SourceAPI:
		return "The API"
	default:
		return "The dashboard"
	}
}

// callStatuses are those that calls are filtered by.
var callStatuses = []connectors.CallStatus{
	connectors.CallRunning, connectors.CallPendingApproval, connectors.CallSuccess, connectors.CallError, connectors.CallDenied, connectors.CallCancelled,
}

func callStatusOptions() []templates.Option {
	options := []templates.Option{{Value: "", Label: "All states"}}
	for _, s := range callStatuses {
		options = append(options, templates.Option{Value: string(s), Label: callState(s).Text})
	}
	return options
}

// callFacts are what is on record of a call besides its content.
func callFacts(c connectors.ToolCall, now time.Time) []templates.Fact {
	started := when(c.StartedAt, now)
	facts := []templates.Fact{
		{Label: "Agent", Value: c.AgentSlug, Href: hrefIf(c.AgentID != nil, agentPath(c.AgentSlug))},
		{Label: "Connector", Value: c.ConnectorSlug, Href: hrefIf(c.ConnectorID != nil, connectorPath(c.ConnectorSlug))},
		{Label: "Came by", Value: sourceName(c.Source)},
		{Label: "Started", When: &started},
	}
	add := func(ok bool, f templates.Fact) {
		if ok {
			facts = append(facts, f)
		}
	}
	add(c.ExposedName != c.Tool, templates.Fact{Label: "Called as", Value: shorten(c.ExposedName, maxName), Mono: true, Copy: true})
	add(c.Caller != "", templates.Fact{Label: "Called by", Value: c.Caller})
	add(c.Outcome != connectors.OutcomeNone, templates.Fact{Label: "Outcome", Value: outcomeName(c.Outcome)})
	add(c.Status.Ended() && c.Status != connectors.CallSuccess && c.Progress != nil, templates.Fact{Label: "Last progress", Value: howFar(c.Progress)})
	add(c.ErrorCode != "", templates.Fact{Label: "Code", Value: c.ErrorCode, Mono: true})
	add(c.ApprovedBy != "", templates.Fact{Label: "Approved by", Value: c.ApprovedBy})
	add(true, templates.Fact{Label: "Sent", Value: sized(c.RequestBytes)})
	add(c.Status.Ended(), templates.Fact{Label: "Received", Value: sized(c.ResponseBytes)})
	if c.CredentialID != nil {
		facts = append(facts, templates.Fact{Label: "Credential", Value: c.CredentialID.String(), Mono: true, Href: hrefIf(c.ConnectorID != nil, credentialsPath(c.ConnectorSlug))})
	}
	if c.TokenID != nil {
		facts = append(facts, templates.Fact{Label: "Token", Value: c.TokenID.String(), Mono: true, Href: hrefIf(c.AgentID != nil, agentPath(c.AgentSlug)+"/connect")})
	}
	if c.Definition != nil {
		facts = append(facts, templates.Fact{Label: "Definition", Value: c.Definition.String()[:16], Mono: true, Href: hrefIf(c.ConnectorID != nil, toolPath(c.ConnectorSlug, c.Tool))})
	}
	return append(facts, templates.Fact{Label: "ID", Value: c.ID.String(), Mono: true, Copy: true})
}

func hrefIf(there bool, href string) string {
	if there {
		return href
	}
	return ""
}

// callDetail is all of a call, for the one who may do what can says.
func callDetail(asset templates.Assets, c connectors.ToolCall, keeps connectors.CallHistory, can templates.Can, now time.Time) templates.CallDetail {
	d := templates.CallDetail{
		Asset: asset, Call: callRow(c, can, now), Facts: callFacts(c, now),
		Attention: callAttention(c), Arguments: callArguments(c, keeps),
	}
	if can.Sync && c.Kind == connectors.CallTool && c.ConnectorID != nil && c.AgentID != nil && len(c.Arguments) > 0 {
		d.Again = &templates.Link{Text: "Try it again", Href: toolPath(c.ConnectorSlug, c.Tool) + "?call=" + c.ID.String()}
	}
	if c.Status == connectors.CallSuccess || c.IsError {
		d.Result = callResult(c, keeps)
	}
	return d
}

// callAttention is what of a call needs somebody, or went wrong.
func callAttention(c connectors.ToolCall) *templates.Attention {
	switch c.Status {
	case connectors.CallPendingApproval:
		return &templates.Attention{
			Kind: templates.StateWarn, Title: "It waits for a person", Text: "Nothing was sent to the server yet.",
			Action: &templates.Link{Text: "Open the approval", Href: approvalPath(c.ID)},
		}
	case connectors.CallError, connectors.CallDenied:
		return &templates.Attention{Kind: templates.StateBad, Title: callState(c.Status).Text, Text: callReason(c)}
	default:
		return nil
	}
}

func approvalPath(id connectors.ToolCallID) string { return "/approvals/" + id.String() }

func callArguments(c connectors.ToolCall, keeps connectors.CallHistory) templates.Content {
	if len(c.Arguments) > 0 {
		return templates.Content{JSON: indent(c.Arguments, onPage.json)}
	}
	return templates.Content{Note: notKept(c.RequestBytes, keeps, "The call had no arguments.")}
}

// notKept says why a content is not there.
func notKept(size int64, keeps connectors.CallHistory, none string) string {
	switch {
	case size == 0:
		return none
	case keeps == connectors.HistoryNone:
		return fmt.Sprintf("Not kept (%s): the organisation's settings say what calls keep.", sized(size))
	default:
		return fmt.Sprintf("Not kept (%s).", sized(size))
	}
}

func callResult(c connectors.ToolCall, keeps connectors.CallHistory) *templates.Result {
	facts := took(c.Duration) + " · " + sized(c.ResponseBytes)
	if len(c.Content) == 0 && len(c.Structured) == 0 {
		v := templates.Result{Facts: facts, Note: notKept(c.ResponseBytes, keeps, "The result is empty.")}
		v.State = callState(c.Status)
		return &v
	}
	r := toolResult{Structured: c.Structured}
	_ = r.Content.UnmarshalJSON(c.Content) // what is no list is empty
	r.IsError.value = c.IsError
	v := resultView(r, func(n int) string { return fmt.Sprintf("%s/pictures/%d", callPath(c.ID), n) })
	v.Facts = facts
	if c.Truncated {
		v.Note = "Only the beginning is kept: the history holds 200,000 bytes of a call. The agent got all."
	}
	return &v
}
