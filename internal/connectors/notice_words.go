package connectors

import (
	"net/url"
	"time"
)

// ConnectorName is how notices name a connector.
type ConnectorName struct {
	ID   ConnectorID
	Slug string
	Name string
}

// AgentName is how notices name an agent; the zero value is nobody.
type AgentName struct {
	Slug string
	Name string
}

func (c ConnectorName) path() string { return "/connectors/" + url.PathEscape(c.Slug) }

func (c ConnectorName) data(more map[string]any) map[string]any {
	data := map[string]any{"connector_id": c.ID.String(), "connector": c.Slug}
	for name, value := range more {
		if value != "" {
			data[name] = value
		}
	}
	return data
}

// account names one account of a connector: "Linear", or "Linear (Support)" where it is an agent's.
func (c ConnectorName) account(of AgentName) string {
	if of.Name == "" {
		return c.Name
	}
	return c.Name + " (" + of.Name + ")"
}

func (c ConnectorName) accountPath(of AgentName) string {
	owner := "shared"
	if of.Slug != "" {
		owner = of.Slug
	}
	return c.path() + "/credentials#credential-" + url.PathEscape(owner)
}

// NeedsAuthNotice says that an account has to be connected again, and why, in a sentence of ours.
func NeedsAuthNotice(c ConnectorName, of AgentName, because string) NewNotice {
	return NewNotice{
		Kind:  NoticeNeedsAuth,
		Title: c.account(of) + " needs authorization",
		Body:  because,
		Link:  c.accountPath(of),
		Key:   "needs_auth " + c.ID.String() + " " + of.Slug,
		Data:  c.data(map[string]any{"agent": of.Slug}),
	}
}

// LapsingNotice says that an account ends soon, unless a person connects it again.
func LapsingNotice(id CredentialID, c ConnectorName, of AgentName, at time.Time) NewNotice {
	return NewNotice{
		Kind:  NoticeLapsing,
		Title: "The access to " + c.account(of) + " lapses soon",
		Body:  "It ends on " + at.UTC().Format("2 Jan 2006 at 15:04 UTC") + ". Connect the account again before that.",
		Link:  c.accountPath(of),
		Key:   "lapsing " + id.String(), // the store looks for it
		Data:  c.data(map[string]any{"agent": of.Slug, "lapses_at": at.UTC().Format(time.RFC3339)}),
	}
}

// DownNotice says that a connector has failed since a time, without a success; because is a sentence of ours.
func DownNotice(c ConnectorName, since time.Time, because string) NewNotice {
	return NewNotice{
		Kind:  NoticeDown,
		Title: c.Name + " is down",
		Body:  "No sync has succeeded since " + since.UTC().Format("2 Jan 2006 at 15:04 UTC") + ". " + because,
		Link:  c.path(),
		Key:   "down " + c.ID.String(),
		Data:  c.data(map[string]any{"failing_since": since.UTC().Format(time.RFC3339)}),
	}
}

// RecoveredNotice says that a connector works again after it was down.
func RecoveredNotice(c ConnectorName, since time.Time) NewNotice {
	return NewNotice{
		Kind:  NoticeRecovered,
		Title: c.Name + " works again",
		Body:  "A sync succeeded. It had failed since " + since.UTC().Format("2 Jan 2006 at 15:04 UTC") + ".",
		Link:  c.path(),
		Key:   "recovered " + c.ID.String(),
		Data:  c.data(map[string]any{"failing_since": since.UTC().Format(time.RFC3339)}),
	}
}

// ApprovalNotice says that a call waits for a person. Its arguments are not in it: they may be secret.
func ApprovalNotice(id ToolCallID, c ConnectorName, by AgentName, tool string) NewNotice {
	return NewNotice{
		Kind:  NoticeApproval,
		Title: by.Name + " asks to call " + tool,
		Body:  "The call to " + c.Name + " waits until somebody approves or denies it.",
		Link:  "/approvals/" + id.String(),
		Key:   "approval " + id.String(),
		Data:  c.data(map[string]any{"agent": by.Slug, "tool": tool, "tool_call_id": id.String()}),
	}
}

// WebhookOffNotice says that Patchbay turned a webhook off.
func WebhookOffNotice(w Webhook, why WebhookEnd) NewNotice {
	return NewNotice{
		Kind:  NoticeWebhookOff,
		Title: "The webhook " + w.Name + " is turned off",
		Body:  why.Sentence(),
		Link:  "/webhooks/" + w.ID.String(),
		Key:   "webhook " + w.ID.String(),
		Data:  map[string]any{"webhook_id": w.ID.String(), "reason": string(why)},
	}
}
