package admin

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// waitingCall is a call that waits, or waited, with all that a person should know to decide.
type waitingCall struct {
	toolcall.Waiting
	about  store.ApprovalAbout
	counts store.CallCount
}

// approvalCard is a call that a person decides about.
func approvalCard(ctx context.Context, asset templates.Assets, w waitingCall, can templates.Can, now time.Time) templates.ApprovalCard {
	definition := connectors.DecodeTool(w.about.Raw)
	return templates.ApprovalCard{
		Asset:     asset,
		ID:        w.ID.String(),
		Action:    approvalPath(w.ID),
		Tool:      shorten(w.Tool, maxName),
		ToolHref:  toolPath(w.about.ConnectorSlug, w.Tool),
		Title:     shorten(w.about.Title, maxName),
		Agent:     w.about.AgentName,
		AgentHref: agentPath(w.about.AgentSlug),
		Connector: w.about.ConnectorName,
		Badges:    approvalBadges(ctx, w, definition),
		Effect:    approvalEffect(ctx, w, definition),
		Risky:     changedMeanwhile(ctx, w),
		Arguments: waitingArguments(ctx, w.Waiting),
		History:   lately(ctx, w.counts.Calls, w.counts.Denied),
		Asked:     when(ctx, w.AskedAt, now),
		Since:     w.AskedAt.UTC().Format(time.RFC3339Nano),
		Waits:     took(ctx, max(0, now.Sub(w.AskedAt))),
		Ends:      when(ctx, w.ExpiresAt, now),
		State:     approvalState(ctx, w.Approval, now),
		Waiting:   waits(w.Approval, now),
		Decided:   decision(ctx, w.Approval),
		CallHref:  callPath(w.ID),
		CanDecide: w.Refusal == nil,
		Refusal:   notDeciding(ctx, w, can),
	}
}

// notDeciding says to a person whose role decides why this call is not theirs; empty: it is, or their role does not.
func notDeciding(ctx context.Context, w waitingCall, can templates.Can) string {
	if w.Refusal == nil || !can.Sync {
		return ""
	}
	return words.Said(ctx, fault.As(w.Refusal).Message)
}

// approvalBadges say what the server says of the tool's effects; that it says nothing is worth knowing, too.
func approvalBadges(ctx context.Context, w waitingCall, definition connectors.ToolView) []templates.Badge {
	if w.about.Raw == nil {
		return nil
	}
	badges := hintBadges(ctx, definition)
	if definition.Hints.ReadOnly == nil && definition.Hints.Destructive == nil {
		badges = append(badges, templates.Badge{Text: words.T(ctx, "effects not said"), Title: words.T(ctx, "The server does not say whether it changes something. It may delete or overwrite.")})
	}
	return badges
}

// approvalEffect says the same in a sentence; empty: nobody knows the tool any more.
func approvalEffect(ctx context.Context, w waitingCall, definition connectors.ToolView) string {
	if w.about.Raw == nil {
		return ""
	}
	return words.Said(ctx, definition.Hints.Words())
}

// changedMeanwhile warns where the tool is another one than that which the agent called.
func changedMeanwhile(ctx context.Context, w waitingCall) *templates.Attention {
	if w.State != connectors.ApprovalWaiting || w.about.Accepted != nil && *w.about.Accepted == w.Definition {
		return nil
	}
	return &templates.Attention{Kind: templates.StateWarn, Title: words.T(ctx, "The tool has changed"), Text: words.T(ctx, "Its definition is not the one by which the agent made this call.")}
}

func waitingArguments(ctx context.Context, w toolcall.Waiting) templates.Content {
	raw := w.Arguments
	switch {
	case w.Refusal != nil:
		return templates.Content{Note: words.T(ctx, "Those who may decide see the arguments.")}
	case w.Withheld:
		return templates.Content{Note: words.T(ctx, "Nothing is to be decided any more: the arguments are for your organisation's auditors now.")}
	}
	if len(raw) == 0 || string(raw) == "{}" {
		return templates.Content{Note: words.T(ctx, "The call has no arguments.")}
	}
	return templates.Content{JSON: indent(ctx, raw, onPage.json)}
}

// approvalState is how far an approval is.
func approvalState(ctx context.Context, a connectors.Approval, now time.Time) templates.State {
	switch a.State {
	case connectors.ApprovalWaiting:
		if !waits(a, now) {
			return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Lapsed")}
		}
		return templates.State{Kind: templates.StateWarn, Text: words.T(ctx, "Waits for a person")}
	case connectors.ApprovalApproved:
		return templates.State{Kind: templates.StateBusy, Text: words.T(ctx, "Approved, about to run")}
	case connectors.ApprovalExecuting:
		return templates.State{Kind: templates.StateBusy, Text: words.T(ctx, "Approved, running")}
	case connectors.ApprovalDone:
		return templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Approved, done")}
	case connectors.ApprovalDenied:
		return templates.State{Kind: templates.StateBad, Text: words.T(ctx, "Denied")}
	case connectors.ApprovalUnknown:
		return templates.State{Kind: templates.StateBad, Text: words.T(ctx, "Approved, outcome unknown")}
	default:
		return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Lapsed")}
	}
}

// waits tells whether somebody can still decide.
func waits(a connectors.Approval, now time.Time) bool {
	return a.State == connectors.ApprovalWaiting && a.ExpiresAt.After(now)
}

// decision says what was decided, and by whom; empty: nothing was.
func decision(ctx context.Context, a connectors.Approval) string {
	if a.DecidedBy == "" {
		return ""
	}
	word := words.T(ctx, "Approved")
	if a.State == connectors.ApprovalDenied {
		word = words.T(ctx, "Denied")
	}
	said := words.T(ctx, "%s by %s", word, a.DecidedBy)
	if a.Reason != "" {
		said += ": " + shorten(a.Reason, maxAbout)
	}
	return said
}

// lately says how often an agent called a tool.
func lately(ctx context.Context, calls, denied int) string {
	switch {
	case calls == 0:
		return words.T(ctx, "The agent has not called it lately.")
	case denied == 0:
		return words.T(ctx, "Lately called %s.", times(ctx, calls))
	default:
		return words.T(ctx, "Lately called %s, denied %s.", times(ctx, calls), times(ctx, denied))
	}
}

func times(ctx context.Context, n int) string {
	switch n {
	case 1:
		return words.T(ctx, "once")
	case 2:
		return words.T(ctx, "twice")
	default:
		return words.T(ctx, "%s times", words.Number(ctx, n))
	}
}
