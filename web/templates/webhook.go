package templates

// WebhooksPage lists the webhooks. Its form sends name, url and kind (several, or none for all) to /webhooks.
type WebhooksPage struct {
	Frame Frame
	Rows  []WebhookRow
	Count string
	Form  Form
	Kinds []Choice
	Pager Pager
}

// WebhookRow is one webhook.
type WebhookRow struct {
	Name      string
	Href      string
	Host      string // of its URL
	State     State
	Reason    string // why it is off or failing; empty: no reason
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
	Form       Form // name, url, enabled
	Kinds      []Choice
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
	Status  string // "200", "no answer"; empty: not tried
	Tries   string
	Made    When
	Tried   When
	Next    *When
	Took    string
	Again   string // POST address of a redelivery; empty: not offered
	Subject string // distinguishes equal buttons
}
