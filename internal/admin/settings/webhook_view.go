package settings

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/webhooks"
	"patchbay/web/templates"
)

func webhookPath(id connectors.WebhookID) string { return "/webhooks/" + id.String() }

func webhookRow(ctx context.Context, hook connectors.Webhook, now time.Time) templates.WebhookRow {
	row := templates.WebhookRow{
		Name: hook.Name, Href: webhookPath(hook.ID), Host: webhookHost(hook), Format: formatName(ctx, hook.Format), Told: i18n.T(ctx, "All events"), Delivered: shell.NewWhenOrNever(ctx, hook.DeliveredAt, now),
	}
	if n := len(hook.Kinds); n > 0 {
		row.Told = i18n.N(ctx, n, "%s event", "%s events")
	}
	switch hook.State() {
	case connectors.WebhookOff:
		row.State, row.Reason = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.TranslateKnown(ctx, hook.DisabledWhy.Sentence())
		if hook.DisabledWhy != connectors.WebhookOnOrOff {
			row.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Turned off")}
		}
	case connectors.WebhookTrouble:
		row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Failing")}
		row.Reason = i18n.T(ctx, "First failed %s. We retry for three days.", shell.NewWhen(ctx, *hook.FailingSince, now).Text)
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "On")}
	}
	return row
}

func webhookFacts(ctx context.Context, hook connectors.Webhook, now time.Time) []templates.Fact {
	delivered, made := shell.NewWhenOrNever(ctx, hook.DeliveredAt, now), shell.NewWhen(ctx, hook.CreatedAt, now)
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Last delivered"), When: &delivered}, // a test does not count
		{Label: i18n.T(ctx, "Failed attempts"), Value: i18n.Number(ctx, hook.Failures)},
	}
	if hook.RotatingUntil != nil && hook.RotatingUntil.After(now) {
		until := shell.NewWhen(ctx, *hook.RotatingUntil, now)
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Old secret expires"), When: &until})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "ID"), Value: hook.ID.String(), Mono: true, Copy: true}, templates.Fact{Label: i18n.T(ctx, "Created"), When: &made})
}

// deliveryRow is one delivery of a notice.
func deliveryRow(ctx context.Context, d connectors.Delivery, hook connectors.Webhook, now time.Time) templates.DeliveryRow {
	row := templates.DeliveryRow{
		ID: webhooks.MessageID(d.ID), Kind: shell.KindName(ctx, d.Kind), State: deliveryState(ctx, d), Reason: i18n.TranslateKnown(ctx, d.Error), Tries: strconv.Itoa(d.Tries),
		Made: shell.NewWhen(ctx, d.CreatedAt, now), Tried: shell.NewWhenOrNever(ctx, d.TriedAt, now),
	}
	if d.TriedAt != nil {
		row.Status, row.Took = i18n.T(ctx, "no response"), shell.FormatDuration(ctx, d.Duration)
	}
	if d.Status != 0 {
		row.Status = strconv.Itoa(d.Status)
		if text := http.StatusText(d.Status); text != "" {
			row.Status += " " + text
		}
	}
	if d.NextAt != nil && d.Tries > 0 {
		next := shell.NewWhen(ctx, *d.NextAt, now)
		row.Next = &next
	}
	if hook.Enabled {
		row.Again, row.Subject = webhookPath(hook.ID)+"/deliveries/"+d.ID.String()+"/redeliver", row.Kind+", "+row.Made.Text
	}
	return row
}

func deliveryState(ctx context.Context, d connectors.Delivery) templates.State {
	switch d.State {
	case connectors.DeliveryDelivered:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Delivered")}
	case connectors.DeliveryFailed:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Failed")}
	case connectors.DeliveryCancelled:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Cancelled")}
	}
	if d.Tries > 0 {
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Retrying")}
	}
	return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Waiting")}
}

// The form's values for the choice of events.
const (
	eventsAll    = "all"
	eventsChosen = "chosen"
)

func webhookChoices(ctx context.Context, chosen []string) templates.WebhookChoices {
	c := templates.WebhookChoices{Kinds: kindChoices(ctx, chosen)}
	for _, f := range connectors.WebhookFormats {
		c.Formats = append(c.Formats, templates.Option{Value: string(f), Label: formatName(ctx, f)})
	}
	return c
}

func formatName(ctx context.Context, f connectors.WebhookFormat) string {
	switch f {
	case connectors.WebhookSlack:
		return "Slack"
	case connectors.WebhookTeams:
		return "Microsoft Teams"
	default:
		return i18n.T(ctx, "Signed JSON")
	}
}

// kindChoices offers the kinds of notices and events.
func kindChoices(ctx context.Context, chosen []string) []templates.Choice {
	kinds := slices.Concat(connectors.NoticeKinds, connectors.EventKinds)
	choices := make([]templates.Choice, len(kinds))
	for i, k := range kinds {
		choices[i] = templates.Choice{Value: string(k), Label: shell.KindName(ctx, k), Chosen: slices.Contains(chosen, string(k))}
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
