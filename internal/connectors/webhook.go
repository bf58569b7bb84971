package connectors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"patchbay/internal/fault"
)

// MaxWebhooks bounds a tenant's webhooks.
const MaxWebhooks = 20

// WebhookEnd is why Patchbay turned a webhook off.
type WebhookEnd string

// The reasons.
const (
	WebhookOnOrOff WebhookEnd = ""        // not by Patchbay: a person switches it
	WebhookGone    WebhookEnd = "gone"    // its receiver answered 410
	WebhookFailing WebhookEnd = "failing" // no delivery succeeded for days
)

// Sentence explains the reason to people.
func (e WebhookEnd) Sentence() string {
	switch e {
	case WebhookGone:
		return "The receiver answered 410 Gone. Turn the webhook back on if that's a mistake."
	case WebhookFailing:
		return "Nothing delivered for three days. Fix the receiver or URL, send a test, and turn the webhook back on."
	default:
		return ""
	}
}

// WebhookFormat is the body of a webhook's requests.
type WebhookFormat string

// The formats.
const (
	WebhookJSON  WebhookFormat = "json"  // signed, as package webhooks documents
	WebhookSlack WebhookFormat = "slack" // for an incoming webhook of Slack
	WebhookTeams WebhookFormat = "teams" // for a workflow of Microsoft Teams
)

// WebhookFormats are the formats, in display order.
var WebhookFormats = []WebhookFormat{WebhookJSON, WebhookSlack, WebhookTeams}

// Webhook is a receiver of notices over HTTP. Its secrets are stored apart.
type Webhook struct {
	ID            WebhookID
	Name          string
	URL           string
	Format        WebhookFormat
	Kinds         []NoticeKind // empty: all but EventKinds
	Enabled       bool
	DisabledWhy   WebhookEnd
	Failures      int        // failed attempts in a row
	FailingSince  *time.Time // the first of them; nil: none
	DeliveredAt   *time.Time // last success; nil: never
	RotatingUntil *time.Time // until then the previous secret signs too
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// WebhookState is a webhook's state.
type WebhookState string

// The states.
const (
	WebhookActive  WebhookState = "active"
	WebhookTrouble WebhookState = "failing"  // the last attempt failed
	WebhookOff     WebhookState = "disabled" // by a person, or by Patchbay
)

// State returns the webhook's state.
func (w Webhook) State() WebhookState {
	switch {
	case !w.Enabled:
		return WebhookOff
	case w.Failures > 0:
		return WebhookTrouble
	default:
		return WebhookActive
	}
}

// Normalized trims white space, writes an internationalised host in xn-- form, and sorts the kinds without
// duplicates. An empty format means WebhookJSON.
func (w Webhook) Normalized() Webhook {
	w.Name = strings.TrimSpace(w.Name)
	w.URL, _ = ASCIIURL(strings.TrimSpace(w.URL))
	w.Format = cmp.Or(w.Format, WebhookJSON)
	w.Kinds = slices.Clone(w.Kinds)
	slices.Sort(w.Kinds)
	w.Kinds = slices.Compact(w.Kinds)
	return w
}

// Validate returns the invalid fields. Egress rules are applied elsewhere.
func (w Webhook) Validate() []fault.Field {
	fields := nameDefects(w.Name)
	if w.URL == "" {
		fields = append(fields, fault.Field{Location: "url", Message: "Enter a URL."})
	}
	if !slices.Contains(WebhookFormats, w.Format) {
		fields = append(fields, fault.Field{Location: "format", Message: "Must be json, slack or teams."})
	}
	for _, k := range w.Kinds {
		if !k.Valid() {
			fields = append(fields, fault.Field{Location: "kinds", Message: fmt.Sprintf("Unknown event %q.", k)})
		}
	}
	return fields
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states.
const (
	DeliveryWaiting   DeliveryState = "waiting" // for its first or next attempt
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"    // after its last attempt
	DeliveryCancelled DeliveryState = "cancelled" // its webhook was turned off
)

// Delivery is one notice for one webhook.
type Delivery struct {
	ID        DeliveryID
	WebhookID WebhookID
	NoticeID  *NoticeID // nil: a test, or an event that is no notice
	Kind      NoticeKind
	State     DeliveryState
	Attempts  int // since it was last requested
	Tries     int // in all
	CreatedAt time.Time
	NextAt    *time.Time // nil: no further attempt
	TriedAt   *time.Time // last attempt; nil: none
	Status    int        // of HTTP, last attempt; 0: no response
	Error     string     // a sentence; empty: none
	Duration  time.Duration
	Body      []byte // JSON object; package webhooks defines what is sent
}

// DeliveryBody is the stored content of a delivery. Link is a dashboard path.
type DeliveryBody struct {
	NoticeID string          `json:"notice_id,omitempty"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Link     string          `json:"link,omitempty"`
	Details  json.RawMessage `json:"details,omitempty"`
}
