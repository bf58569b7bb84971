package connectors

import (
	"encoding/json"
	"slices"
	"time"
)

// NoticeKind is what kind of thing a notice tells; webhooks get it as their type.
type NoticeKind string

// The kinds. A landed one keeps its name: programs go by it.
const (
	NoticeToolChange  NoticeKind = "tool_change.waiting"
	NoticeNeedsAuth   NoticeKind = "connector.needs_auth"
	NoticeDown        NoticeKind = "connector.down"
	NoticeRecovered   NoticeKind = "connector.recovered"
	NoticeLapsing     NoticeKind = "grant.lapsing"
	NoticeApproval    NoticeKind = "approval.waiting"
	NoticeWebhookOff  NoticeKind = "webhook.disabled"
	NoticeWebhookTest NoticeKind = "webhook.test" // sent by hand, and in nobody's list
)

// NoticeKinds are those that a webhook can be told of, in the order in which people are offered them.
var NoticeKinds = []NoticeKind{
	NoticeApproval, NoticeToolChange, NoticeNeedsAuth, NoticeLapsing, NoticeDown, NoticeRecovered, NoticeWebhookOff,
}

// Valid tells whether a webhook can be told of the kind.
func (k NoticeKind) Valid() bool { return slices.Contains(NoticeKinds, k) }

// NewNotice is a notice to be stored. Link is a path of the dashboard. Key is what it is about: while nobody has read it, the same kind
// with the same key is told once an hour and counted; without a key each is told. Data is for programs: ids and names, never a secret.
type NewNotice struct {
	Kind  NoticeKind
	Title string // a line
	Body  string // a sentence or two of ours
	Link  string
	Key   string
	Data  map[string]any
}

// Notice is something that people should know, as one of them sees it.
type Notice struct {
	ID    NoticeID
	At    time.Time
	Kind  NoticeKind
	Title string
	Body  string
	Link  string
	Data  json.RawMessage
	Times int  // how often it was said before somebody read it
	Read  bool // by whoever asks
}

// The bounds of a notice's words, in bytes.
const (
	maxNoticeTitle = 300
	maxNoticeBody  = 2000
)

// Bounded is n with words of a length that fits a list and a message, and without characters that nobody sees: names in it may be a
// server's.
func (n NewNotice) Bounded() NewNotice {
	n.Title = cut(Visible(n.Title, Misleads), maxNoticeTitle)
	n.Body = cut(Visible(n.Body, Misleads), maxNoticeBody)
	return n
}

// cut ends a text after at most so many bytes, between two characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len("…")
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end] + "…"
}
