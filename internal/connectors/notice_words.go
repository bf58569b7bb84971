package connectors

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ConnectorName is a connector in a notice.
type ConnectorName struct {
	ID   ConnectorID
	Slug string
	Name string
}

// AgentName is an agent in a notice; the zero value: none.
type AgentName struct {
	Slug string
	Name string
}

func (c ConnectorName) dashboardPath() string { return "/connectors/" + url.PathEscape(c.Slug) }

func (c ConnectorName) noticeData(more map[string]any) map[string]any {
	data := map[string]any{"connector_id": c.ID.String(), "connector": c.Slug}
	for name, value := range more {
		if value != "" {
			data[name] = value
		}
	}
	return data
}

// NoticeAccount is an account of a connector in a notice.
type NoticeAccount struct {
	Agent AgentName // owner; the zero value: all agents
	Name  string    // among those of its owner
}

// accountTitle names an account of a connector: "Linear", "Linear (Support)" for an agent's, "Linear (Support · home)" for a named one.
func (c ConnectorName) accountTitle(of NoticeAccount) string {
	parts := slices.DeleteFunc([]string{of.Agent.Name, GivenName(of.Name)}, func(part string) bool { return part == "" })
	if len(parts) == 0 {
		return c.Name
	}
	return c.Name + " (" + strings.Join(parts, " · ") + ")"
}

func (c ConnectorName) accountPath(of NoticeAccount) string {
	place := cmp.Or(of.Agent.Slug, "shared")
	if name := GivenName(of.Name); name != "" {
		place += "." + name
	}
	return c.dashboardPath() + "/credentials#credential-" + url.PathEscape(place)
}

// accountData is the data of a notice about an account.
func (c ConnectorName) accountData(of NoticeAccount) map[string]any {
	return c.noticeData(map[string]any{"agent": of.Agent.Slug, "account": GivenName(of.Name)})
}

// NeedsAuthNotice is the notice that an account must be connected again; reason is a sentence, and said what the server
// said.
func NeedsAuthNotice(c ConnectorName, of NoticeAccount, reason string, said *Upstream) NewNotice {
	return NewNotice{
		Kind:  NoticeNeedsAuth,
		Title: c.accountTitle(of) + " needs authorization",
		Body:  reason,
		Link:  c.accountPath(of),
		Key:   strings.TrimSuffix("needs_auth "+c.ID.String()+" "+of.Agent.Slug+"/"+GivenName(of.Name), "/"),
		Data:  c.accountData(of),

		Upstream: said,
	}
}

// LapsingNotice is the notice that an account expires soon unless connected again.
func LapsingNotice(id CredentialID, c ConnectorName, of NoticeAccount, at time.Time) NewNotice {
	data := c.accountData(of)
	data["lapses_at"] = at.UTC().Format(time.RFC3339)
	return NewNotice{
		Kind:  NoticeLapsing,
		Title: "Access to " + c.accountTitle(of) + " expires soon",
		Body:  "It expires on " + at.UTC().Format("2 Jan 2006 at 15:04 UTC") + ". Reconnect the account before then.",
		Link:  c.accountPath(of),
		Key:   "lapsing " + id.String(), // the store searches for it
		Data:  data,
	}
}

// DownNotice is the notice that a connector is down after failures in a row since a time; reason is a sentence, and said
// what the server said at the last one.
func DownNotice(c ConnectorName, since time.Time, failures int, reason string, said *Upstream) NewNotice {
	return NewNotice{
		Kind:  NoticeDown,
		Title: c.Name + " is down",
		Body:  "No sync has succeeded since " + since.UTC().Format("2 Jan 2006 at 15:04 UTC") + ". " + reason,
		Link:  c.dashboardPath(),
		Key:   "down " + c.ID.String(), // the store searches for it
		Data:  c.noticeData(map[string]any{"failing_since": since.UTC().Format(time.RFC3339), "failures": failures}),

		Upstream: said,
	}
}

// RecoveredNotice is the notice that a connector works again.
func RecoveredNotice(c ConnectorName, since time.Time) NewNotice {
	return NewNotice{
		Kind:  NoticeRecovered,
		Title: c.Name + " recovered",
		Body:  "A sync succeeded after failures since " + since.UTC().Format("2 Jan 2006 at 15:04 UTC") + ".",
		Link:  c.dashboardPath(),
		Key:   "recovered " + c.ID.String(),
		Data:  c.noticeData(map[string]any{"failing_since": since.UTC().Format(time.RFC3339)}),
	}
}

// ApprovalNotice is the notice of a waiting call, without its arguments: they may be secret.
func ApprovalNotice(a Approval, c ConnectorName, agent AgentName) NewNotice {
	id, verb := a.ID, " asks to call "
	switch a.Kind {
	case CallPrompt:
		verb = " asks to use "
	case CallResource:
		verb = " asks to read "
	}
	return NewNotice{
		Kind:  NoticeApproval,
		Title: agent.Name + verb + a.Tool,
		Body:  "A call to " + c.Name + " needs approval, unless already decided.",
		Link:  "/approvals/" + id.String(),
		Key:   "approval " + id.String(),
		Data:  c.noticeData(map[string]any{"agent": agent.Slug, "kind": string(a.Kind), "tool": a.Tool, "tool_call_id": id.String()}),
	}
}

// WebhookOffNotice is the notice that Patchbay turned a webhook off.
func WebhookOffNotice(w Webhook, why WebhookEnd) NewNotice {
	return NewNotice{
		Kind:  NoticeWebhookOff,
		Title: "Webhook " + w.Name + " turned off",
		Body:  why.Sentence(),
		Link:  "/webhooks/" + w.ID.String(),
		Key:   "webhook " + w.ID.String(),
		Data:  map[string]any{"webhook_id": w.ID.String(), "reason": string(why)},
	}
}

// StreamPausedNotice is the notice that Patchbay paused an audit stream.
func StreamPausedNotice(s AuditStream, why StreamEnd) NewNotice {
	return s.newNotice(NoticeStreamPaused, "Audit stream "+s.Name+" paused", why.Sentence(), map[string]any{"reason": string(why)})
}

// StreamFailingNotice is the notice that an audit stream was refused, or has failed for about an hour.
func StreamFailingNotice(s AuditStream) NewNotice {
	return s.newNotice(NoticeStreamFailing, "Audit stream "+s.Name+" is failing", "Nothing is lost: Patchbay keeps retrying. "+s.LastError, nil)
}

// StreamGapNotice is the notice that records were removed before an audit stream delivered them.
func StreamGapNotice(s AuditStream, gap string) NewNotice {
	return s.newNotice(NoticeStreamGap, "Audit stream "+s.Name+" has a gap", gap, nil)
}

// StreamChange is what a person or program did to an audit stream, in words.
type StreamChange string

// The changes that are reported: by them, a receiver gets events for the first time, or no more.
const (
	StreamCreated   StreamChange = "created"
	StreamMoved     StreamChange = "sends elsewhere"
	StreamTurnedOff StreamChange = "turned off"
	StreamDeleted   StreamChange = "deleted"
)

// StreamChangedNotice is the notice about a change by an actor. hosts names the receiver, and the one before if it differs.
// Each change has a notice of its own.
func StreamChangedNotice(s AuditStream, what StreamChange, by, hosts string, at time.Time) NewNotice {
	n := s.newNotice(NoticeStreamChanged, "Audit stream "+s.Name+" "+string(what), "By "+by+". Receiver: "+hosts+".", map[string]any{"change": string(what)})
	n.Key += " " + string(what) + " " + at.UTC().Format(time.RFC3339Nano)
	if what == StreamDeleted {
		n.Link = "/audit/streams"
	}
	return n
}

func (s AuditStream) newNotice(kind NoticeKind, title, body string, more map[string]any) NewNotice {
	data := map[string]any{"audit_stream_id": s.ID.String()}
	maps.Copy(data, more)
	return NewNotice{Kind: kind, Title: title, Body: body, Link: "/audit/streams/" + s.ID.String(), Key: string(kind) + " " + s.ID.String(), Data: data}
}
