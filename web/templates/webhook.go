package templates

var webhookFieldNames = []string{"name", "format", "url", "kinds"}

// WebhooksPage lists the webhooks.
type WebhooksPage struct {
	Frame Frame
	Rows  []WebhookRow
	Count string
	Pager Pager
}

// NewWebhookPage is the form for a webhook. It sends name, format, url, events (all or chosen) and kind (several) to
// /webhooks.
type NewWebhookPage struct {
	Frame   Frame
	Form    Form
	Choices WebhookChoices
}

// WebhookChoices are the choices of a webhook's form.
type WebhookChoices struct {
	Formats []Option
	Kinds   []Choice
}

// WebhookRow is one webhook.
type WebhookRow struct {
	Name      string
	Href      string
	Host      string // of its URL
	State     State
	Reason    string // why it is off or failing; empty: no reason
	Format    string // "Slack"
	Told      string // kinds of notices: "Everything", "3 kinds"
	Delivered When
}

// Choice is one checkbox of several.
type Choice struct {
	Value  string
	Label  string
	Chosen bool
}

// WebhookPage shows one webhook. Its forms post to Href and below it: test, rotate, delete,
// deliveries/{id}/redeliver.
type WebhookPage struct {
	Frame      Frame
	Webhook    WebhookRow
	Form       Form // name, format, url, events
	Enabled    bool
	Choices    WebhookChoices
	Signed     bool // the receiver verifies signatures
	Facts      []Fact
	Secret     *NewAPIKey // the new signing secret; nil: none
	Deliveries []DeliveryRow
	Pager      Pager
}

// DeliveryRow is one delivery of a notice.
type DeliveryRow struct {
	ID      string // as the receiver sees it
	Kind    string
	State   State
	Reason  string // error of the last attempt
	Status  string // "200", "no response"; empty: not tried
	Tries   string
	Made    When
	Tried   When
	Next    *When
	Took    string
	Again   string // POST address of a redelivery; empty: not offered
	Subject string // distinguishes equal buttons
}
