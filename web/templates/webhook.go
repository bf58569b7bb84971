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
	Host      string // where it leads
	State     State
	Reason    string // why it is off, or failing; empty: nothing is wrong
	Told      string // of what: "Everything", "3 kinds"
	Delivered When
}

// Choice is one of several boxes that may be ticked.
type Choice struct {
	Value  string
	Label  string
	Chosen bool
}

// WebhookPage is about one webhook. Its forms post to Href and below it: test, rotate, delete, deliveries/{id}/redeliver.
type WebhookPage struct {
	Frame      Frame
	Webhook    WebhookRow
	Form       Form // name, url, enabled
	Kinds      []Choice
	Facts      []Fact
	Secret     *NewAPIKey // what signs, just made; nil: none
	Deliveries []DeliveryRow
	Pager      Pager
}

// DeliveryRow is what a webhook was told of one notice.
type DeliveryRow struct {
	ID      string // as the receiver sees it
	Kind    string
	State   State
	Reason  string // what went wrong at the last try
	Status  string // "200", "no answer"; empty: it was not tried
	Tries   string
	Made    When
	Tried   When
	Next    *When
	Took    string
	Again   string // where sending it again posts; empty: it is not offered
	Subject string // tells equal buttons apart
}
