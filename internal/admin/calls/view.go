package calls

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// CallRow shows a call in a table.
func CallRow(ctx context.Context, c connectors.ToolCall, can templates.Permissions, now time.Time) templates.CallRow {
	row := templates.CallRow{
		ID:        c.ID.String(),
		Href:      shell.CallPath(c.ID),
		Tool:      shell.ShortenText(c.Tool, shell.MaxName),
		Title:     callTitle(c),
		Mark:      templates.Mark{Initial: shell.InitialLetter(cmp.Or(c.ConnectorName, c.ConnectorSlug))},
		Agent:     cmp.Or(c.AgentName, callerName(c)),
		Connector: cmp.Or(c.ConnectorName, c.ConnectorSlug),
		State:     CallState(ctx, c.Status),
		Reason:    CallReason(ctx, c),
		Started:   shell.NewWhen(ctx, c.StartedAt, now),
		Duration:  shell.FormatDuration(ctx, callDuration(c, now)),
	}
	if c.Kind != connectors.CallTool {
		row.Kind = string(c.Kind)
	}
	if c.Status == connectors.CallError {
		row.Said = shell.SaidLine(c.Upstream)
	}
	if c.Status.Ended() {
		if c.Waited > 0 {
			row.Waited = i18n.T(ctx, "waited %s", shell.FormatDuration(ctx, c.Waited))
		}
		return row
	}
	row.Since, row.Progress = c.StartedAt.UTC().Format(time.RFC3339Nano), callProgress(ctx, c)
	row.Percent = callPercent(c)
	if can.Sync {
		row.Cancel = shell.CallPath(c.ID) + "/cancel"
	}
	return row
}

// callTitle is the title of the called tool; empty if it has none besides its name.
func callTitle(c connectors.ToolCall) string {
	if title := shell.ShortenText(c.ToolTitle, shell.MaxName); c.Kind == connectors.CallTool && title != c.Tool {
		return title
	}
	return ""
}

// callDuration is the duration of a call without its wait for approval, or the time since it began if it has not ended.
func callDuration(c connectors.ToolCall, now time.Time) time.Duration {
	if c.Status.Ended() {
		return c.Ran()
	}
	return max(0, now.Sub(c.StartedAt))
}

// CallState is a call's status as a mark.
func CallState(ctx context.Context, s connectors.CallStatus) templates.State {
	switch s {
	case connectors.CallPendingApproval:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Waiting for approval")}
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

// CallReason says why a call did not succeed; empty if it did or has not ended.
func CallReason(ctx context.Context, c connectors.ToolCall) string {
	switch {
	case c.Undelivered():
		return i18n.TranslateKnown(ctx, c.ErrorMessage)
	case c.Status != connectors.CallError && c.Status != connectors.CallDenied:
		return ""
	case c.ErrorMessage != "":
		return shell.ShortenText(i18n.TranslateKnown(ctx, c.ErrorMessage), shell.MaxDescription)
	default:
		return outcomeName(ctx, c.Outcome)
	}
}

// FailureAttention says how a call failed, with the server's own words.
func FailureAttention(ctx context.Context, c connectors.ToolCall) *templates.Attention {
	return &templates.Attention{
		Kind: templates.StateBad, Title: cmp.Or(outcomeName(ctx, c.Outcome), CallState(ctx, c.Status).Text), Said: shell.SaidLine(c.Upstream),
		Text: shell.ShortenText(i18n.TranslateKnown(ctx, c.ErrorMessage), shell.MaxDescription),
	}
}

// outcomeName words a call's outcome.
func outcomeName(ctx context.Context, o connectors.CallOutcome) string {
	switch o {
	case connectors.OutcomeOK:
		return i18n.T(ctx, "Result")
	case connectors.OutcomeToolError:
		return i18n.T(ctx, "Tool error")
	case connectors.OutcomeRPCError:
		return i18n.T(ctx, "Server refused the request")
	case connectors.OutcomeTransport:
		return i18n.T(ctx, "No valid server response")
	case connectors.OutcomeRefused:
		return i18n.T(ctx, "Refused, nothing sent")
	case connectors.OutcomeDenied:
		return i18n.T(ctx, "Denied")
	case connectors.OutcomeCancelled:
		return i18n.T(ctx, "Cancelled")
	case connectors.OutcomeLost:
		return i18n.T(ctx, "Unknown: Patchbay stopped")
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

// StatusOptions are the states of the filter.
func StatusOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All states")}}
	for _, s := range callStatuses {
		options = append(options, templates.Option{Value: string(s), Label: CallState(ctx, s).Text})
	}
	return options
}

// callFacts are a call's metadata, without its content.
func callFacts(ctx context.Context, c connectors.ToolCall, now time.Time) []templates.Fact {
	started := shell.NewWhen(ctx, c.StartedAt, now)
	agent := addName(templates.Fact{Label: i18n.T(ctx, "Agent"), Href: linkIf(c.AgentID != nil, shell.AgentPath(c.AgentSlug))}, c.AgentName, c.AgentSlug)
	if c.AgentSlug == "" {
		agent.Value = i18n.T(ctx, "None: an admin's own call")
	}
	facts := []templates.Fact{
		agent,
		addName(templates.Fact{Label: i18n.T(ctx, "Connector"), Href: linkIf(c.ConnectorID != nil, shell.ConnectorPath(c.ConnectorSlug))}, c.ConnectorName, c.ConnectorSlug),
		{Label: i18n.T(ctx, "Source"), Value: sourceName(ctx, c.Source)},
		{Label: i18n.T(ctx, "Started"), When: &started},
	}
	add := func(ok bool, f templates.Fact) {
		if ok {
			facts = append(facts, f)
		}
	}
	add(c.ExposedName != c.Tool, templates.Fact{Label: i18n.T(ctx, "Called as"), Value: shell.ShortenText(c.ExposedName, shell.MaxName), Mono: true, Copy: true})
	add(c.Caller != "", templates.Fact{Label: i18n.T(ctx, "Called by"), Value: c.Caller})
	add(c.Address.IsValid(), templates.Fact{Label: i18n.T(ctx, "Address"), Value: c.From(), Mono: true})
	add(c.RequestID != "", templates.Fact{Label: i18n.T(ctx, "Request"), Value: c.RequestID, Mono: true, Copy: true})
	add(c.Upstream != nil && c.Upstream.NewSession, templates.Fact{Label: i18n.T(ctx, "Session"), Value: i18n.T(ctx, "The server ended the session. The call was repeated in a new one.")})
	add(c.Outcome != connectors.OutcomeNone && c.Outcome != connectors.OutcomeOK && c.Status != connectors.CallError && c.Status != connectors.CallDenied, templates.Fact{Label: i18n.T(ctx, "Outcome"), Value: outcomeName(ctx, c.Outcome)})
	add(c.Status.Ended() && c.Status != connectors.CallSuccess && c.Progress != nil, templates.Fact{Label: i18n.T(ctx, "Last progress"), Value: ServerProgress(ctx, c.Progress)})
	add(c.ErrorCode != "", templates.Fact{Label: i18n.T(ctx, "Code"), Value: c.ErrorCode, Mono: true})
	add(c.ApprovedBy != "", templates.Fact{Label: i18n.T(ctx, "Approved by"), Value: c.ApprovedBy})
	add(true, templates.Fact{Label: i18n.T(ctx, "Sent"), Value: shell.FormatBytes(ctx, c.RequestBytes)})
	add(c.Status.Ended(), templates.Fact{Label: i18n.T(ctx, "Received"), Value: shell.FormatBytes(ctx, c.ResponseBytes)})
	add(c.Account.Label != "", templates.Fact{Label: i18n.T(ctx, "Account"), Value: shell.ShortenText(shell.CleanText(c.Account.Label), shell.MaxName)})
	if c.CredentialID != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Credential"), Value: c.CredentialID.String(), Mono: true, Href: linkIf(c.ConnectorID != nil, shell.CredentialsPath(c.ConnectorSlug))})
	}
	if c.TokenID != nil {
		facts = append(facts, tokenFact(ctx, c))
	}
	if c.Definition != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Definition"), Value: c.Definition.String()[:16], Mono: true, Href: linkIf(c.ConnectorID != nil, shell.ToolPath(c.ConnectorSlug, c.Tool))})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "ID"), Value: c.ID.String(), Mono: true, Copy: true})
}

// tokenFact names the token of a call, with the way to the agent's tokens. A token that was revoked has only its id.
func tokenFact(ctx context.Context, c connectors.ToolCall) templates.Fact {
	f := templates.Fact{Label: i18n.T(ctx, "Token"), Value: shell.ShortenText(c.TokenName, shell.MaxName), Href: linkIf(c.AgentID != nil, shell.AgentPath(c.AgentSlug)+"/connect#tokens")}
	if c.TokenName == "" {
		f.Value, f.Mono, f.Note = c.TokenID.String(), true, i18n.T(ctx, "revoked")
	}
	return f
}

// addName adds to a fact the name of what it is about, with the slug beside it, or the slug alone.
func addName(f templates.Fact, name, slug string) templates.Fact {
	if f.Value = cmp.Or(name, slug); f.Value != slug {
		f.Note = slug
	}
	return f
}

func linkIf(exists bool, href string) string {
	if exists {
		return href
	}
	return ""
}

// CallDetail shows a call as far as can allows.
func CallDetail(ctx context.Context, asset templates.Assets, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions, now time.Time) templates.CallDetail {
	d := templates.CallDetail{
		Asset: asset, Call: CallRow(ctx, c, can, now), Facts: callFacts(ctx, c, now),
		Attention: callAttention(ctx, c, can), Arguments: callArguments(ctx, c, history, can),
	}
	if !c.IsError && c.Upstream != nil && strings.TrimSpace(c.Upstream.Said) != shell.SaidLine(c.Upstream) { // the result or the banner has all of it
		d.Said = respond.NewQuote(ctx, c.Upstream)
	}
	if canRepeat(c, can) && c.Kind == connectors.CallTool && c.ConnectorID != nil && len(c.Arguments) > 0 {
		d.Again = &templates.Link{Text: i18n.T(ctx, "Try again"), Href: shell.ToolPath(c.ConnectorSlug, c.Tool) + "?call=" + c.ID.String()}
	}
	if c.Status == connectors.CallSuccess || c.IsError || c.StructuredValid != nil {
		d.Result = callResult(ctx, c, history, can)
		AddVerdict(ctx, d.Result, c)
	}
	return d
}

// canRepeat reports whether the person may try a call again: as its agent, or as themselves if it was a person's own.
func canRepeat(c connectors.ToolCall, can templates.Permissions) bool {
	if c.AgentID == nil {
		return can.Manage && c.AgentSlug == ""
	}
	return can.Sync
}

// callerName is the agent of a call or, without one, the person or key that made it.
func callerName(c connectors.ToolCall) string { return cmp.Or(c.AgentSlug, c.Caller) }

// callAttention says what is wrong with a call or needs a decision.
func callAttention(ctx context.Context, c connectors.ToolCall, can templates.Permissions) *templates.Attention {
	switch c.Status {
	case connectors.CallPendingApproval:
		return &templates.Attention{
			Kind: templates.StateWarn, Title: i18n.T(ctx, "Waiting for approval"), Text: i18n.T(ctx, "Nothing sent yet."),
			Action: &templates.Link{Text: i18n.T(ctx, "Open approval"), Href: shell.ApprovalPath(c.ID)},
		}
	case connectors.CallError, connectors.CallDenied:
		a := FailureAttention(ctx, c)
		a.Action = repairLink(ctx, c, can)
		return a
	default:
		return nil
	}
}

// repairLink leads to the page where the cause of a failed call is seen or repaired; nil: there is none.
func repairLink(ctx context.Context, c connectors.ToolCall, can templates.Permissions) *templates.Link {
	if c.ConnectorID == nil {
		return nil
	}
	switch toolcall.Code(c.ErrorCode) {
	case toolcall.CodeCredentialRequired, toolcall.CodeNeedsAuthorization:
		return &templates.Link{Text: i18n.T(ctx, "Open credentials"), Href: shell.CredentialsPath(c.ConnectorSlug)}
	case toolcall.CodeHeld:
		return &templates.Link{Text: i18n.T(ctx, "Open change"), Href: shell.ReviewedPath(c.ConnectorSlug, c.Tool) + "/changes"}
	case toolcall.CodeNotGranted:
		switch {
		case c.AgentID == nil:
		case can.Manage:
			return &templates.Link{Text: i18n.T(ctx, "Grant access"), Href: shell.AgentPath(c.AgentSlug) + shell.ConnectorPath(c.ConnectorSlug)}
		case can.Sync:
			query := url.Values{"agent": {c.AgentSlug}, "connector": {c.ConnectorSlug}}
			if c.Kind == connectors.CallTool {
				query.Set("tool", c.Tool)
			}
			return &templates.Link{Text: i18n.T(ctx, "Ask for access"), Href: shell.AskAccessPath(query)}
		}
	case toolcall.CodeUpstream, toolcall.CodeTimeout, toolcall.CodeCircuitOpen:
		return &templates.Link{Text: i18n.T(ctx, "Open connector"), Href: shell.ConnectorPath(c.ConnectorSlug)}
	}
	return nil
}

func callArguments(ctx context.Context, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions) templates.Content {
	if c.Withheld {
		return templates.Content{Note: withheldNote(ctx, can)}
	}
	if len(c.Arguments) > 0 {
		return templates.Content{JSON: shell.IndentJSON(ctx, c.Arguments, shell.MaxPageJSON)}
	}
	return templates.Content{Note: notStoredNote(ctx, c.RequestBytes, history, i18n.T(ctx, "No arguments."))}
}

// notStoredNote says why a content was not stored.
func notStoredNote(ctx context.Context, size int64, history connectors.CallHistory, otherwise string) string {
	switch {
	case size == 0:
		return otherwise
	case history == connectors.HistoryNone:
		return i18n.T(ctx, "Not stored (%s), per your organisation's settings.", shell.FormatBytes(ctx, size))
	default:
		return i18n.T(ctx, "Not stored (%s).", shell.FormatBytes(ctx, size))
	}
}

// withheldNote says why stored arguments and results are not shown. Event streams omit them for auditors too,
// since reading them is audited.
func withheldNote(ctx context.Context, can templates.Permissions) string {
	if can.Bodies {
		return i18n.T(ctx, "Reload to read this; reading is logged.")
	}
	return i18n.T(ctx, "Only auditors can see this.")
}

// AddVerdict shows in a result whether its structured content fits the tool's output schema, if that was checked.
func AddVerdict(ctx context.Context, v *templates.Result, c connectors.ToolCall) {
	switch {
	case c.StructuredValid == nil:
	case *c.StructuredValid:
		v.Checked = i18n.T(ctx, "Matches the output schema.")
	default:
		v.Misfit = &templates.Attention{
			Kind: templates.StateWarn, Title: i18n.T(ctx, "Doesn't match the output schema"), Text: shell.ShortenText(i18n.TranslateKnown(ctx, c.StructuredError), shell.MaxDescription),
		}
	}
}

func callResult(ctx context.Context, c connectors.ToolCall, history connectors.CallHistory, can templates.Permissions) *templates.Result {
	facts := shell.FormatDuration(ctx, c.Ran()) + " · " + shell.FormatBytes(ctx, c.ResponseBytes)
	if c.Withheld {
		return &templates.Result{Facts: facts, State: CallState(ctx, c.Status), Note: withheldNote(ctx, can)}
	}
	if len(c.Content) == 0 && len(c.Structured) == 0 {
		v := templates.Result{Facts: facts, Note: notStoredNote(ctx, c.ResponseBytes, history, i18n.T(ctx, "Empty result."))}
		v.State = CallState(ctx, c.Status)
		return &v
	}
	r := ToolResult{Structured: c.Structured}
	_ = r.Content.UnmarshalJSON(c.Content) // invalid content is shown as empty
	r.IsError.Value = c.IsError
	v := ResultView(ctx, r, func(n int) string { return fmt.Sprintf("%s/pictures/%d", shell.CallPath(c.ID), n) })
	v.Facts = facts
	if c.Truncated {
		v.Note = i18n.T(ctx, "Truncated: we store 200,000 bytes per call. The agent got everything.")
	}
	return &v
}
