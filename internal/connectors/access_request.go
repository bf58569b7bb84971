package connectors

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/fault"
)

// Bounds of requests for access.
const (
	MaxRequestedTools     = 100  // of one request
	MaxRequestReason      = 1000 // characters, also of a decision's note
	MaxOpenRequests       = 20   // of one person or API key
	MaxOpenRequestsTenant = 500
)

// AccessRequest asks for an agent's access to a connector.
type AccessRequest struct {
	ID          AccessRequestID
	AgentID     AgentID
	ConnectorID ConnectorID
	AllTools    bool
	Tools       []string // unless AllTools: the upstream's names
	Reason      string
	Until       *time.Time // the wanted end; nil: none
	Asker       uuid.UUID  // the person or API key
	AskedBy     string     // its name at the time
	AskedAt     time.Time
	State       AccessRequestState
	DecidedBy   string
	DecidedAt   *time.Time
	Note        string // of the decision
}

// AccessRequestState is the state of a request for access.
type AccessRequestState string

// The states of a request for access.
const (
	RequestOpen      AccessRequestState = "open"
	RequestAccepted  AccessRequestState = "accepted"
	RequestRefused   AccessRequestState = "refused"
	RequestWithdrawn AccessRequestState = "withdrawn" // by the asker, or because the asker was removed
)

// Normalized trims texts, removes duplicates, and truncates the end to seconds.
func (r AccessRequest) Normalized() AccessRequest {
	r.Reason = strings.TrimSpace(r.Reason)
	r.Tools, r.Until = sortedSet(r.Tools), truncateEnd(r.Until)
	if r.AllTools {
		r.Tools = nil
	}
	return r
}

// Validate returns the invalid fields of a normalized request at a time.
func (r AccessRequest) Validate(now time.Time) []fault.Field {
	var c validation
	c.checkToolNames("tools", r.Tools)
	switch {
	case !r.AllTools && len(r.Tools) == 0:
		c.addField("tools", "Select at least one tool, or all.")
	case len(r.Tools) > MaxRequestedTools:
		c.addField("tools", "At most %d tools. Ask for all instead.", MaxRequestedTools)
	}
	if n := utf8.RuneCountInString(r.Reason); n == 0 || n > MaxRequestReason || !utf8.ValidString(r.Reason) || strings.ContainsRune(r.Reason, 0) {
		c.addField("reason", "Must be 1–%d characters.", MaxRequestReason)
	}
	switch {
	case !isValidEnd(r.Until):
		c.addField("until", "Must be a date and time before the year 10000.")
	case hasEnded(r.Until, now):
		c.addField("until", "Must be in the future.")
	}
	return c.fields
}

// Adds reports whether the request asks for more than a grant permits up to its end.
func (r AccessRequest) Adds(g Grant, now time.Time) bool {
	at := g.At(now)
	if r.AllTools {
		return !at.AllTools || isLater(r.Until, g.Ends.generalEnd())
	}
	for _, tool := range r.Tools {
		if end, isGranted := g.ToolEnd(tool); !isGranted || isLater(r.Until, end) || hasEnded(end, now) {
			return true
		}
	}
	return false
}

// AskAccessPath is the dashboard's form of a request.
const AskAccessPath = "/access/request"

// AccessRequestPath is a request's page in the dashboard.
func AccessRequestPath(id AccessRequestID) string { return "/access/requests/" + id.String() }

// AccessRequestNotice is the notice of an open request, without its reason.
func AccessRequestNotice(r AccessRequest, c ConnectorName, agent AgentName) NewNotice {
	data := map[string]any{"request_id": r.ID.String(), "agent": agent.Slug, "asked_by": r.AskedBy}
	if r.Until != nil {
		data["until"] = r.Until.UTC().Format(time.RFC3339)
	}
	return NewNotice{
		Kind:  NoticeAccessRequest,
		Title: r.AskedBy + " asks for access of " + agent.Name + " to " + c.Name,
		Body:  "An admin accepts or refuses the request, unless already decided.",
		Link:  AccessRequestPath(r.ID),
		Key:   "access_request " + r.ID.String(),
		Data:  c.noticeData(data),
	}
}

// AccessDecisionNotice is the notice of an accepted or refused request.
func AccessDecisionNotice(r AccessRequest, c ConnectorName, agent AgentName) NewNotice {
	title := "Access of " + agent.Name + " to " + c.Name + " was refused"
	if r.State == RequestAccepted {
		title = "Access of " + agent.Name + " to " + c.Name + " was granted"
	}
	return NewNotice{
		Kind:  NoticeAccessDecision,
		Title: title,
		Body:  r.DecidedBy + " decided the request of " + r.AskedBy + ".",
		Link:  AccessRequestPath(r.ID),
		Key:   "access_decision " + r.ID.String(),
		Data: c.noticeData(map[string]any{
			"request_id": r.ID.String(), "agent": agent.Slug, "asked_by": r.AskedBy, "state": string(r.State), "decided_by": r.DecidedBy,
		}),
	}
}
