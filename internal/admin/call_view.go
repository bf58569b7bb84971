package admin

import (
	"context"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func callRow(ctx context.Context, c connectors.ToolCall, can templates.Permissions, now time.Time) templates.CallRow {
	row := templates.CallRow{
		ID:        c.ID.String(),
		Href:      callPath(c.ID),
		Tool:      shortenText(c.Tool, maxName),
		Agent:     c.AgentSlug,
		Connector: c.ConnectorSlug,
		State:     callState(ctx, c.Status),
		Reason:    callReason(ctx, c),
		Started:   newWhen(ctx, c.StartedAt, now),
		Duration:  formatDuration(ctx, callDuration(c, now)),
	}
	if c.Kind != connectors.CallTool {
		row.Kind = string(c.Kind)
	}
	if c.Status.Ended() {
		return row
	}
	row.Since, row.Progress = c.StartedAt.UTC().Format(time.RFC3339Nano), callProgress(ctx, c)
	row.Percent = percentDone(c.Progress)
	if can.Sync {
		row.Cancel = callPath(c.ID) + "/cancel"
	}
	return row
}

func callPath(id connectors.ToolCallID) string { return "/calls/" + id.String() }

// callDuration is the duration of a call, up to now if it runs.
func callDuration(c connectors.ToolCall, now time.Time) time.Duration {
	if c.Status.Ended() {
		return c.Duration
	}
	return max(0, now.Sub(c.StartedAt))
}

func callState(ctx context.Context, s connectors.CallStatus) templates.State {
	switch s {
	case connectors.CallPendingApproval:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Waits for a person")}
	case connectors.CallRunning:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Running")}
	case connectors.CallSuccess:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Success")}
	case connectors.CallError:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Error")}
	case connectors.CallDenied:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Denied")}
	default:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Cancelled")}
	}
}

// callReason says why a call did not succeed; empty if it did or has not ended.
func callReason(ctx context.Context, c connectors.ToolCall) string {
	switch {
	case c.Undelivered():
		return i18n.TranslateKnown(ctx, c.ErrorMessage)
	case c.Status != connectors.CallError && c.Status != connectors.CallDenied:
		return ""
	case c.ErrorMessage != "":
		return shortenText(i18n.TranslateKnown(ctx, c.ErrorMessage), maxDescription)
	default:
		return outcomeName(ctx, c.Outcome)
	}
}

// outcomeName words a call's outcome.
func outcomeName(ctx context.Context, o connectors.CallOutcome) string {
	switch o {
	case connectors.OutcomeOK:
		return i18n.T(ctx, "A result")
	case connectors.OutcomeToolError:
		return i18n.T(ctx, "The tool reports an error")
	case connectors.OutcomeRPCError:
		return i18n.T(ctx, "The server refused the request")
	case connectors.OutcomeTransport:
		return i18n.T(ctx, "The server did not answer as it should")
	case connectors.OutcomeRefused:
		return i18n.T(ctx, "Refused before anything was sent")
	case connectors.OutcomeDenied:
		return i18n.T(ctx, "Denied by a person")
	case connectors.OutcomeCancelled:
		return i18n.T(ctx, "Cancelled")
	case connectors.OutcomeLost:
		return i18n.T(ctx, "Unknown: Patchbay stopped meanwhile")
	default:
		return ""
	}
}

func sourceName(ctx context.Context, s connectors.CallSource) string {
	switch s {
	case connectors.SourceGateway:
		return i18n.T(ctx, "The gateway")
	case connectors.SourceAPI:
		return i18n.T(ctx, "The API")
	default:
		return i18n.T(ctx, "The dashboard")
	}
}

// callStatuses are the statuses that the filter offers.
var callStatuses = []connectors.CallStatus{
	connectors.CallRunning, connectors.CallPendingApproval, connectors.CallSuccess, connectors.CallError, connectors.CallDenied, connectors.CallCancelled,
}

func callStatusOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All states")}}
	for _, s := range callStatuses {
		options = append(options, templates.Option{Value: string(s), Label: callState(ctx, s).Text})
	}
	return options
}

// callFacts are a call's metadata, without its content.
func callFacts(ctx context.Context, c connectors.ToolCall, now time.Time) []templates.Fact {
	started := newWhen(ctx, c.StartedAt, now)
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Agent"), Value: c.AgentSlug, Href: linkIf(c.AgentID != nil, agentPath(c.AgentSlug))},
		{Label: i18n.T(ctx, "Connector"), Value: c.ConnectorSlug, Href: linkIf(c.ConnectorID != nil, connectorPath(c.ConnectorSlug))},
		{Label: i18n.T(ctx, "Came by"), Value: sourceName(ctx, c.Source)},
		{Label: i18n.T(ctx, "Started"), When: &started},
	}
	add := func(ok bool, f templates.Fact) {
		if ok {
			facts = append(facts, f)
		}
	}
	add(c.ExposedName != c.Tool, templates.Fact{Label: i18n.T(ctx, "Called as"), Value: shortenText(c.ExposedName, maxName), Mono: true, Copy: true})
	add(c.Caller != "", templates.Fact{Label: i18n.T(ctx, "Called by"), Value: c.Caller})
	add(c.Address.IsValid(), templates.Fact{Label: i18n.T(ctx, "Address"), Value: c.From(), Mono: true})
	add(c.RequestID != "", templates.Fact{Label: i18n.T(ctx, "Request"), Value: c.RequestID, Mono: true, Copy: true})
	add(c.Outcome != connectors.OutcomeNone, templates.Fact{Label: i18n.T(ctx, "Outcome"), Value: outcomeName(ctx, c.Outcome)})
	add(c.Status.Ended() && c.Status != connectors.CallSuccess && c.Progress != nil, templates.Fact{Label: i18n.T(ctx, "Last progress"), Value: serverProgress(ctx, c.Progress)})
	add(c.ErrorCode != "", templates.Fact{Label: i18n.T(ctx, "Code"), Value: c.ErrorCode, Mono: true})
	add(c.ApprovedBy != "", templates.Fact{Label: i18n.T(ctx, "Approved by"), Value: c.ApprovedBy})
	add(true, templates.Fact{Label: i18n.T(ctx, "Sent"), Value: formatBytes(ctx, c.RequestBytes)})
	add(c.Status.Ended(), templates.Fact{Label: i18n.T(ctx, "Received"), Value: formatBytes(ctx, c.ResponseBytes)})
	if c.CredentialID != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Credential"), Value: c.CredentialID.String(), Mono: true, Href: linkIf(c.ConnectorID != nil, credentialsPath(c.ConnectorSlug))})
	}
	if c.TokenID != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Token"), Value: c.TokenID.String(), Mono: true, Href: linkIf(c.AgentID != nil, agentPath(c.AgentSlug)+"/connect")})
	}
	if c.Definition != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Definition"), Value: c.Definition.String()[:16], Mono: true, Href: linkIf(c.ConnectorID != nil, toolPath(c.ConnectorSlug, c.Tool))})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "ID"), Value: c.ID.String(), Mono: true, Copy: true})
}

func linkIf(exists bool, href string) string {
	if exists {
		return href
	}
	return ""
}

// callDetail shows a call as far as can allows.
func callDetail(ctx context.Context, asset templates.Assets, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions, now time.Time) templates.CallDetail {
	d := templates.CallDetail{
		Asset: asset, Call: callRow(ctx, c, can, now), Facts: callFacts(ctx, c, now),
		Attention: callAttention(ctx, c), Arguments: callArguments(ctx, c, history, can),
	}
	if can.Sync && c.Kind == connectors.CallTool && c.ConnectorID != nil && c.AgentID != nil && len(c.Arguments) > 0 {
		d.Again = &templates.Link{Text: i18n.T(ctx, "Try it again"), Href: toolPath(c.ConnectorSlug, c.Tool) + "?call=" + c.ID.String()}
	}
	if c.Status == connectors.CallSuccess || c.IsError {
		d.Result = callResult(ctx, c, history, can)
	}
	return d
}

// callAttention says what is wrong with a call or needs a decision.
func callAttention(ctx context.Context, c connectors.ToolCall) *templates.Attention {
	switch c.Status {
	case connectors.CallPendingApproval:
		return &templates.Attention{
			Kind: templates.StateWarn, Title: i18n.T(ctx, "It waits for a person"), Text: i18n.T(ctx, "Nothing was sent to the server yet."),
			Action: &templates.Link{Text: i18n.T(ctx, "Open the approval"), Href: approvalPath(c.ID)},
		}
	case connectors.CallError, connectors.CallDenied:
		return &templates.Attention{Kind: templates.StateBad, Title: callState(ctx, c.Status).Text, Text: callReason(ctx, c)}
	default:
		return nil
	}
}

func approvalPath(id connectors.ToolCallID) string { return "/approvals/" + id.String() }

func callArguments(ctx context.Context, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions) templates.Content {
	if c.Withheld {
		return templates.Content{Note: withheldNote(ctx, can)}
	}
	if len(c.Arguments) > 0 {
		return templates.Content{JSON: indentJSON(ctx, c.Arguments, maxPageJSON)}
	}
	return templates.Content{Note: notStoredNote(ctx, c.RequestBytes, history, i18n.T(ctx, "The call had no arguments."))}
}

// notStoredNote says why a content was not stored.
func notStoredNote(ctx context.Context, size int64, history connectors.CallHistory, otherwise string) string {
	switch {
	case size == 0:
		return otherwise
	case history == connectors.HistoryNone:
		return i18n.T(ctx, "Not kept (%s): the organisation's settings say what calls keep.", formatBytes(ctx, size))
	default:
		return i18n.T(ctx, "Not kept (%s).", formatBytes(ctx, size))
	}
}

// withheldNote says why stored arguments and results are not shown. Event streams omit them for auditors too,
// since reading them is audited.
func withheldNote(ctx context.Context, can templates.Permissions) string {
	if can.Bodies {
		return i18n.T(ctx, "Load the page again to read this. It is put on record that you do.")
	}
	return i18n.T(ctx, "What is kept of this is for your organisation's auditors.")
}

func callResult(ctx context.Context, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions) *templates.Result {
	facts := formatDuration(ctx, c.Duration) + " · " + formatBytes(ctx, c.ResponseBytes)
	if c.Withheld {
		return &templates.Result{Facts: facts, State: callState(ctx, c.Status), Note: withheldNote(ctx, can)}
	}
	if len(c.Content) == 0 && len(c.Structured) == 0 {
		v := templates.Result{Facts: facts, Note: notStoredNote(ctx, c.ResponseBytes, history, i18n.T(ctx, "The result is empty."))}
		v.State = callState(ctx, c.Status)
		return &v
	}
	r := toolResult{Structured: c.Structured}
	_ = r.Content.UnmarshalJSON(c.Content) // invalid content is shown as empty
	r.IsError.value = c.IsError
	v := resultView(ctx, r, func(n int) string { return fmt.Sprintf("%s/pictures/%d", callPath(c.ID), n) })
	v.Facts = facts
	if c.Truncated {
		v.Note = i18n.T(ctx, "Only the beginning is kept: the history holds 200,000 bytes of a call. The agent got all.")
	}
	return &v
}
