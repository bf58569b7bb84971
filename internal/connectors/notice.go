package connectors

import (
	"encoding/json"
	"slices"
	"time"
)

// NoticeKind is a notice's kind, and the type of its webhook events.
type NoticeKind string

// The kinds. Released names do not change: programs match them.
const (
	NoticeToolChange     NoticeKind = "tool_change.waiting"
	NoticeNeedsAuth      NoticeKind = "connector.needs_auth"
	NoticeDown           NoticeKind = "connector.down"
	NoticeRecovered      NoticeKind = "connector.recovered"
	NoticeToolsVanished  NoticeKind = "connector.tools_vanished"
	NoticeLapsing        NoticeKind = "grant.lapsing"
	NoticeApproval       NoticeKind = "approval.waiting"
	NoticeAccessRequest  NoticeKind = "access_request.waiting"
	NoticeAccessDecision NoticeKind = "access_request.decided"
	NoticeWebhookOff     NoticeKind = "webhook.disabled"
	NoticeStreamPaused   NoticeKind = "audit_stream.paused"
	NoticeStreamFailing  NoticeKind = "audit_stream.failing"
	NoticeStreamGap      NoticeKind = "audit_stream.gap"
	NoticeStreamChanged  NoticeKind = "audit_stream.changed"
	NoticeWebhookTest    NoticeKind = "webhook.test" // sent by hand, in no list
)

// The kinds of events that a server causes. They are no notices.
const (
	EventListChanged NoticeKind = "connector.list_changed"
	EventMessage     NoticeKind = "connector.message"
)

// NoticeKinds are the kinds for webhooks, in display order.
var NoticeKinds = []NoticeKind{
	NoticeApproval, NoticeAccessRequest, NoticeAccessDecision, NoticeToolChange, NoticeNeedsAuth, NoticeLapsing, NoticeDown, NoticeRecovered, NoticeToolsVanished, NoticeWebhookOff,
	NoticeStreamPaused, NoticeStreamFailing, NoticeStreamGap, NoticeStreamChanged,
}

// EventKinds are sent to webhooks that name them, and not to those of all kinds, which a server could flood.
var EventKinds = []NoticeKind{EventListChanged, EventMessage}

// Valid reports whether webhooks can subscribe to the kind.
func (k NoticeKind) Valid() bool { return slices.Contains(NoticeKinds, k) || k.IsEvent() }

// IsEvent reports whether the kind is one of EventKinds.
func (k NoticeKind) IsEvent() bool { return slices.Contains(EventKinds, k) }

// NewNotice is a notice to be stored. Link is a dashboard path. While a notice with the same Kind and Key is
// unread, a repetition is sent once an hour and counted; without a Key each is sent. Data is for programs: ids
// and names, never a secret. Webhooks do not get Upstream.
type NewNotice struct {
	Kind  NoticeKind
	Title string // one line
	Body  string // one or two sentences
	Link  string
	Key   string
	Data  map[string]any

	Upstream *Upstream // what the server said; nil: nothing
}

// Notice is a stored notice as one person sees it.
type Notice struct {
	ID       NoticeID
	At       time.Time
	Kind     NoticeKind
	Title    string
	Body     string
	Link     string
	Data     json.RawMessage
	Upstream *Upstream // what the server said; nil: nothing
	Times    int       // occurrences before it was read
	Read     bool      // by the requesting person
}

// UpstreamFor returns what the server said, as far as the role may read it; nil: nothing. What it said of the account of one
// agent is for managers: it may name the person.
func (n Notice) UpstreamFor(role Role) *Upstream {
	if n.Upstream == nil || role.May(PermManage) {
		return n.Upstream
	}
	var data struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(n.Data, &data) != nil || data.Agent != "" {
		return n.Upstream.WithoutSaid()
	}
	return n.Upstream
}

// Bounds of a notice's texts, in bytes.
const (
	maxNoticeTitle = 300
	maxNoticeBody  = 2000
)

// Bounded returns n with bounded texts and without invisible characters: names in it may be a server's.
func (n NewNotice) Bounded() NewNotice {
	n.Title = truncateBytes(Visible(n.Title, Misleads), maxNoticeTitle)
	n.Body = truncateBytes(Visible(n.Body, Misleads), maxNoticeBody)
	return n
}

// truncateBytes cuts a text to at most so many bytes, between two characters.
func truncateBytes(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	end := maxBytes - len("…")
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end] + "…"
}
