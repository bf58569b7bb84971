package connectors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// MaxWebhooks is how many webhooks a tenant has at most.
const MaxWebhooks = 20

// WebhookEnd is why Patchbay turned a webhook off.
type WebhookEnd string

// The reasons.
const (
	WebhookOnOrOff WebhookEnd = ""        // it did not: a person says whether it is on
	WebhookGone    WebhookEnd = "gone"    // its receiver answered 410
	WebhookFailing WebhookEnd = "failing" // nothing arrived for days
)

// Sentence says it to people.
func (e WebhookEnd) Sentence() string {
	switch e {
	case WebhookGone:
		return "Its receiver answered 410 Gone: it wants nothing more. Turn the webhook on again if that was a mistake."
	case WebhookFailing:
		return "Nothing has arrived there for three days. Mend the receiver or the address, send a test, and turn the webhook on again."
	default:
		return ""
	}
}

// Webhook is somebody who is told of notices over HTTP. Its secrets are in the vault.
type Webhook struct {
	ID            WebhookID
	Name          string
	URL           string
	Kinds         []NoticeKind // empty: all
	Enabled       bool
	DisabledWhy   WebhookEnd
	Failures      int        // tries since the last that succeeded
	FailingSince  *time.Time // the first of them; nil: there is none
	DeliveredAt   *time.Time // the last that succeeded; nil: none has
	RotatingUntil *time.Time // until then the secret before signs, too
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// WebhookState is a webhook's condition in a word.
type WebhookState string

// The states.
const (
	WebhookActive  WebhookState = "active"
	WebhookTrouble WebhookState = "failing"  // the last try failed
	WebhookOff     WebhookState = "disabled" // by a person, or by Patchbay
)

// State is the webhook's.
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

// Normalized is w without space around its words, and with each kind once, in order.
func (w Webhook) Normalized() Webhook {
	w.Name, w.URL = strings.TrimSpace(w.Name), strings.TrimSpace(w.URL)
	w.Kinds = slices.Clone(w.Kinds)
	slices.Sort(w.Kinds)
	w.Kinds = slices.Compact(w.Kinds)
	return w
}

// Validate tells what is wrong with a webhook; whether its address may be reached others say.
func (w Webhook) Validate() []fault.Field {
	var fields []fault.Field
	switch n := utf8.RuneCountInString(w.Name); {
	case n == 0 || n > 100:
		fields = append(fields, fault.Field{Location: "name", Message: "A name has 1 to 100 characters."})
	case strings.ContainsFunc(w.Name, Misleads):
		fields = append(fields, fault.Field{Location: "name", Message: MisleadingName})
	}
	if w.URL == "" {
		fields = append(fields, fault.Field{Location: "url", Message: "The address is missing."})
	}
	for _, k := range w.Kinds {
		if !k.Valid() {
			fields = append(fields, fault.Field{Location: "kinds", Message: fmt.Sprintf("There is no notice of the kind %q.", k)})
		}
	}
	return fields
}

// DeliveryState is how far a delivery is.
type DeliveryState string

// The states.
const (
	DeliveryWaiting   DeliveryState = "waiting" // for its first try, or the next
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"    // after its last try
	DeliveryCancelled DeliveryState = "cancelled" // its webhook was turned off
)

// Delivery is what one webhook is told of one notice.
type Delivery struct {
	ID        DeliveryID
	WebhookID WebhookID
	NoticeID  *NoticeID // nil: a test
	Kind      NoticeKind
	State     DeliveryState
	Attempts  int // since it was last asked for
	Tries     int // in all
	CreatedAt time.Time
	NextAt    *time.Time // nil: there is no further try
	TriedAt   *time.Time // the last try; nil: there was none
	Status    int        // HTTP's, of the last try; 0: there was no answer
	Error     string     // a sentence; empty: nothing is wrong
	Duration  time.Duration
	Body      []byte // a JSON object; see package webhooks for what is sent
}

// DeliveryBody is what a delivery tells, as it is stored. Link is a path of the dashboard.
type DeliveryBody struct {
	NoticeID string          `json:"notice_id,omitempty"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Link     string          `json:"link,omitempty"`
	Details  json.RawMessage `json:"details,omitempty"`
}
