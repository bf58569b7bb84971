package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/webhooks"
	"patchbay/web/templates"
)

func webhookPath(id connectors.WebhookID) string { return "/webhooks/" + id.String() }

// webhookRow is one webhook.
func webhookRow(hook connectors.Webhook, now time.Time) templates.WebhookRow {
	row := templates.WebhookRow{
		Name: hook.Name, Href: webhookPath(hook.ID), Host: hook.URL, Told: "Everything", Delivered: whenOrNever(hook.DeliveredAt, now),
	}
	if u, err := url.Parse(hook.URL); err == nil {
		row.Host = u.Host // the rest of an address may be a secret
	}
	if n := len(hook.Kinds); n > 0 {
		row.Told = plural(n, "kind")
	}
	switch hook.State() {
	case connectors.WebhookOff:
		row.State, row.Reason = templates.State{Kind: templates.StateOff, Text: "Off"}, hook.DisabledWhy.Sentence()
		if hook.DisabledWhy != connectors.WebhookOnOrOff {
			row.State = templates.State{Kind: templates.StateBad, Text: "Turned off"}
		}
	case connectors.WebhookTrouble:
		row.State = templates.State{Kind: templates.StateWarn, Text: "Failing"}
		row.Reason = "Nothing has arrived since " + when(*hook.FailingSince, now).Text + ". It is tried again by itself, for three days."
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: "On"}
	}
	return row
}

func webhookFacts(hook connectors.Webhook, now time.Time) []templates.Fact {
	delivered, made := whenOrNever(hook.DeliveredAt, now), when(hook.CreatedAt, now)
	facts := []templates.Fact{
		{Label: "Last notice arrived", When: &delivered}, // a test is none
		{Label: "Failed since then", Value: plural(hook.Failures, "try")},
	}
	if hook.Failures != 1 {
		facts[1].Value = number(hook.Failures) + " tries"
	}
	if hook.RotatingUntil != nil && hook.RotatingUntil.After(now) {
		until := when(*hook.RotatingUntil, now)
		facts = append(facts, templates.Fact{Label: "Old secret ends", When: &until})
	}
	return append(facts, templates.Fact{Label: "ID", Value: hook.ID.String(), Mono: true, Copy: true}, templates.Fact{Label: "Made", When: &made})
}

// deliveryRow is what a webhook was told of one notice.
func deliveryRow(d connectors.Delivery, hook connectors.Webhook, now time.Time) templates.DeliveryRow {
	row := templates.DeliveryRow{
		ID: webhooks.MessageID(d.ID), Kind: kindName(d.Kind), State: deliveryState(d), Reason: d.Error, Tries: strconv.Itoa(d.Tries),
		Made: when(d.CreatedAt, now), Tried: whenOrNever(d.TriedAt, now),
	}
	if d.TriedAt != nil {
		row.Status, row.Took = "no answer", took(d.Duration)
	}
	if d.Status != 0 {
		row.Status = strconv.Itoa(d.Status)
		if text := http.StatusText(d.Status); text != "" {
			row.Status += " " + text
		}
	}
	if d.NextAt != nil && d.Tries > 0 {
		next := when(*d.NextAt, now)
		row.Next = &next
	}
	if hook.Enabled {
		row.Again, row.Subject = webhookPath(hook.ID)+"/deliveries/"+d.ID.String()+"/redeliver", row.Kind+", "+row.Made.Text
	}
	return row
}

func deliveryState(d connectors.Delivery) templates.State {
	switch d.State {
	case connectors.DeliveryDelivered:
		return templates.State{Kind: templates.StateOK, Text: "Delivered"}
	case connectors.DeliveryFailed:
		return templates.State{Kind: templates.StateBad, Text: "Failed"}
	case connectors.DeliveryCancelled:
		return templates.State{Kind: templates.StateOff, Text: "Cancelled"}
	}
	if d.Tries > 0 {
		return templates.State{Kind: templates.StateWarn, Text: "Is tried again"}
	}
	return templates.State{Kind: templates.StateBusy, Text: "Waits"}
}

// kindChoices offers the kinds of notices.
func kindChoices(chosen []string) []templates.Choice {
	choices := make([]templates.Choice, len(connectors.NoticeKinds))
	for i, k := range connectors.NoticeKinds {
		choices[i] = templates.Choice{Value: string(k), Label: kindName(k), Chosen: slices.Contains(chosen, string(k))}
	}
	return choices
}

func kindValues(kinds []connectors.NoticeKind) []string {
	values := make([]string, len(kinds))
	for i, k := range kinds {
		values[i] = string(k)
	}
	return values
}
