package calls

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// pendingApproval is a call that waits or waited for approval, with what a decision needs.
type pendingApproval struct {
	toolcall.PendingApproval
	about  store.ApprovalAbout
	counts store.CallCount
}

func approvalCard(ctx context.Context, asset templates.Assets, w pendingApproval, can templates.Permissions, now time.Time) templates.ApprovalCard {
	if w.Kind != connectors.CallTool {
		w.about.Raw, w.about.Title = nil, "" // of a tool with this name
	}
	definition := connectors.DecodeTool(w.about.Raw)
	card := templates.ApprovalCard{
		Asset:     asset,
		ID:        w.ID.String(),
		Action:    shell.ApprovalPath(w.ID),
		Tool:      shell.ShortenText(w.Tool, shell.MaxName),
		ToolHref:  shell.ToolPath(w.about.ConnectorSlug, w.Tool),
		Title:     shell.ShortenText(w.about.Title, shell.MaxName),
		Agent:     w.about.AgentName,
		AgentHref: shell.AgentPath(w.about.AgentSlug),
		Connector: w.about.ConnectorName,
		Account:   shell.ShortenText(shell.CleanText(w.about.Account.Label), shell.MaxName),
		Badges:    approvalBadges(ctx, w, definition),
		Effect:    approvalEffect(ctx, w, definition),
		Risky:     changedSinceCall(ctx, w),
		Arguments: waitingArguments(ctx, w.PendingApproval),
		History:   recentCallsText(ctx, w.counts.Calls, w.counts.Denied),
		Asked:     shell.NewWhen(ctx, w.AskedAt, now),
		Since:     w.AskedAt.UTC().Format(time.RFC3339Nano),
		Waits:     shell.FormatDuration(ctx, max(0, now.Sub(w.AskedAt))),
		Ends:      shell.NewWhen(ctx, w.ExpiresAt, now),
		State:     approvalState(ctx, w.Approval, now),
		Waiting:   isPending(w.Approval, now),
		Open:      w.State == connectors.ApprovalApproved || w.State == connectors.ApprovalExecuting,
		Decided:   decisionText(ctx, w.Approval),
		CallHref:  shell.CallPath(w.ID),
		CanDecide: w.Refusal == nil,
		CanAllow:  w.CanAllow(),
		Refusal:   decisionRefusal(ctx, w, can),
	}
	switch w.Kind {
	case connectors.CallPrompt:
		card.Effect, card.ToolHref = i18n.T(ctx, "Uses a prompt. Read-only."), ""
	case connectors.CallResource:
		card.Effect, card.ToolHref = i18n.T(ctx, "Reads a resource."), ""
	}
	return card
}

// FollowCall adds to the card of a decided call how far the call is; with result, also its end.
func FollowCall(ctx context.Context, card *templates.ApprovalCard, c connectors.ToolCall, a auth.Actor, result bool, now time.Time) {
	card.Call = CallRow(ctx, c, shell.ToPermissions(a.Role), now)
	if !result || !c.Status.Ended() {
		return
	}
	d := CallDetail(ctx, card.Asset, c, a.Tenant.CallHistory, shell.ToPermissions(a.Role), now)
	if card.Result = d.Result; card.Result == nil && d.Attention != nil && c.Status != connectors.CallDenied {
		card.Result = &templates.Result{Problem: d.Attention}
	}
}

// decisionRefusal says why a person with a deciding role may not decide this call. It is empty if they may, or
// if their role may not.
func decisionRefusal(ctx context.Context, w pendingApproval, can templates.Permissions) string {
	if w.Refusal == nil || !can.Sync {
		return ""
	}
	return i18n.TranslateKnown(ctx, fault.As(w.Refusal).Message)
}

// approvalBadges shows the tool's annotations, or that there are none.
func approvalBadges(ctx context.Context, w pendingApproval, definition connectors.ToolView) []templates.Badge {
	if w.about.Raw == nil {
		return nil
	}
	badges := shell.HintBadges(ctx, definition)
	if definition.Hints.ReadOnly == nil && definition.Hints.Destructive == nil {
		badges = append(badges, templates.Badge{Text: i18n.T(ctx, "effects unknown"), Title: i18n.T(ctx, "The server doesn't declare the tool's effects. It may delete or overwrite data.")})
	}
	return badges
}

// approvalEffect says the tool's effect in a sentence; empty if the tool is no longer known.
func approvalEffect(ctx context.Context, w pendingApproval, definition connectors.ToolView) string {
	if w.about.Raw == nil {
		return ""
	}
	return i18n.TranslateKnown(ctx, definition.Hints.Words())
}

// changedSinceCall warns if the tool's definition changed after the agent called it.
func changedSinceCall(ctx context.Context, w pendingApproval) *templates.Attention {
	if w.Kind != connectors.CallTool || w.State != connectors.ApprovalWaiting || w.about.Accepted != nil && *w.about.Accepted == w.Definition {
		return nil
	}
	return &templates.Attention{Kind: templates.StateWarn, Title: i18n.T(ctx, "Tool changed"), Text: i18n.T(ctx, "The agent called a different version.")}
}

func waitingArguments(ctx context.Context, w toolcall.PendingApproval) templates.Content {
	raw := w.Arguments
	switch {
	case w.Refusal != nil:
		return templates.Content{Note: i18n.T(ctx, "Only approvers see the arguments.")}
	case w.Withheld:
		return templates.Content{Note: i18n.T(ctx, "No longer waiting. Only auditors can see the arguments.")}
	}
	if len(raw) == 0 || string(raw) == "{}" {
		return templates.Content{Note: i18n.T(ctx, "No arguments.")}
	}
	return templates.Content{JSON: shell.IndentJSON(ctx, raw, shell.MaxPageJSON)}
}

// approvalState words an approval's state.
func approvalState(ctx context.Context, a connectors.Approval, now time.Time) templates.State {
	switch a.State {
	case connectors.ApprovalWaiting:
		if !isPending(a, now) {
			return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Expired")}
		}
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Waiting for approval")}
	case connectors.ApprovalApproved:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Approved, starting")}
	case connectors.ApprovalExecuting:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Approved, running")}
	case connectors.ApprovalDone:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Approved, done")}
	case connectors.ApprovalDenied:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Denied")}
	case connectors.ApprovalUnknown:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Approved, outcome unknown")}
	default:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Expired")}
	}
}

// isPending reports whether an approval can still be decided.
func isPending(a connectors.Approval, now time.Time) bool {
	return a.State == connectors.ApprovalWaiting && a.ExpiresAt.After(now)
}

// decisionText says the decision and its author; empty if there is none.
func decisionText(ctx context.Context, a connectors.Approval) string {
	if a.DecidedBy == "" {
		return ""
	}
	decided := i18n.T(ctx, "Approved")
	if a.State == connectors.ApprovalDenied {
		decided = i18n.T(ctx, "Denied")
	}
	text := i18n.T(ctx, "%s by %s", decided, a.DecidedBy)
	if a.Reason != "" {
		text += ": " + shell.ShortenText(a.Reason, shell.MaxDescription)
	}
	return text
}

// recentCallsText says how often an agent called a tool.
func recentCallsText(ctx context.Context, calls, denied int) string {
	switch {
	case calls == 0:
		return i18n.T(ctx, "Not called recently.")
	case denied == 0:
		return i18n.T(ctx, "Recently called %s.", shell.FormatTimes(ctx, calls))
	default:
		return i18n.T(ctx, "Recently called %s, denied %s.", shell.FormatTimes(ctx, calls), shell.FormatTimes(ctx, denied))
	}
}
