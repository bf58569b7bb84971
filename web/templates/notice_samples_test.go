package templates_test

import (
	"strings"

	"github.com/a-h/templ"

	"patchbay/web/templates"
)

func noticeSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	list := with(frame("Notifications", templates.NavNotices))
	list.Listen, list.Needs = "/events?on=notices", 100
	rows := []templates.NoticeRow{
		{ID: "5", State: templates.State{Kind: templates.StateBusy, Text: "Approval"}, Title: "Support asks to call delete_issue", Text: "The call to Linear needs approval, unless already decided.", Href: "/approvals/5", When: ago},
		{ID: "4", State: templates.State{Kind: templates.StateWarn, Text: "Changed tool"}, Title: "create_issue of Linear changed", Text: "Its definition waits for approval.", Href: "/connectors/linear/tools/create_issue", When: ago, Times: "3 times"},
		{ID: "3", State: templates.State{Kind: templates.StateBad, Text: "Needs authorization"}, Title: "Sentry (Support) needs authorization", Text: "The authorization server ended access.", Said: templates.Quote{Label: "Server response", Text: "{\"error\":\"invalid_grant\"}"}, Href: "/connectors/sentry/credentials#credential-support", When: longAgo},
		{ID: "2", State: templates.State{Kind: templates.StateOK, Text: "Connector recovered"}, Title: "A connector with a name that is as long as names may be, and a little longer than a narrow screen can show in a line", When: longAgo},
	}
	pages["notices"] = templates.Notices(templates.NoticesPage{Frame: list, Rows: rows, Needs: templates.Needs{}, Pager: templates.Pager{Next: "/notices?cursor=x"}})
	pages["notices-empty"] = templates.Notices(templates.NoticesPage{Frame: asViewer(with(frame("Notifications", templates.NavNotices)))})
	webhookSamples(pages, with)
	registrySamples(pages, with)
	scimSamples(pages, with)
}

func webhookSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	choices := templates.WebhookChoices{Formats: []templates.Option{{Value: "json", Label: "Signed JSON"}, {Value: "slack", Label: "Slack"}}}
	choices.Kinds = []templates.Choice{
		{Value: "approval.waiting", Label: "Approval", Chosen: true}, {Value: "tool_change.waiting", Label: "Changed tool"}, {Value: "connector.needs_auth", Label: "Needs authorization", Chosen: true},
		{Value: "grant.lapsing", Label: "Access expires"}, {Value: "connector.down", Label: "Connector down"}, {Value: "connector.recovered", Label: "Connector recovered"},
	}
	chat := templates.WebhookRow{Name: "Chat", Href: "/webhooks/1", Host: "hooks.example.com", State: templates.State{Kind: templates.StateOK, Text: "On"}, Format: "Slack", Told: "All events", Delivered: ago}
	pager := templates.WebhookRow{
		Name: "Pager of the night shift", Href: "/webhooks/2", Host: "a-long-name.of-a-host.that-is-somewhere.example.com:8443", State: templates.State{Kind: templates.StateBad, Text: "Turned off"},
		Reason: "The receiver answered 410 Gone. Turn the webhook back on if that's a mistake.", Format: "Signed JSON", Told: "2 events", Delivered: never,
	}
	list := with(frame("Webhooks", templates.NavWebhooks))
	pages["webhooks"] = templates.Webhooks(templates.WebhooksPage{Frame: list, Rows: []templates.WebhookRow{chat, pager}, Count: "2 webhooks"})
	pages["webhooks-empty"] = templates.Webhooks(templates.WebhooksPage{Frame: list})
	pages["webhook-add"] = templates.NewWebhook(templates.NewWebhookPage{Frame: list, Choices: choices, Form: templates.Form{
		Values: map[string]string{"name": "Chat", "url": "http://10.0.0.1/", "events": "chosen"}, Errors: map[string]string{"url": "The address 10.0.0.1 is private; Patchbay does not connect to it."},
	}})
	one := with(frame("Pager of the night shift", templates.NavWebhooks, templates.Crumb{Text: "Webhooks", Href: "/webhooks"}))
	pages["webhook"] = templates.Webhook(templates.WebhookPage{
		Frame: one, Webhook: pager, Choices: choices, Signed: true, Form: templates.Form{Values: map[string]string{"name": pager.Name, "url": "https://hooks.example.com/", "events": "chosen", "enabled": "false"}},
		Facts:  []templates.Fact{{Label: "Last delivered", When: &never}, {Label: "ID", Value: "01890000-0000-7000-8000-000000000002", Mono: true, Copy: true}},
		Secret: &templates.NewAPIKey{Name: pager.Name, Token: "whsec_c2hvd24gdGhpcyBvbmNlLCBpbiBhIHNhbXBsZSBwYWdl"},
		Deliveries: []templates.DeliveryRow{
			{ID: "msg_3", Kind: "Approval", State: templates.State{Kind: templates.StateWarn, Text: "Retrying"}, Reason: "It didn't answer within 10 seconds.", Status: "no response", Tries: "3", Made: ago, Tried: ago, Next: &soon, Took: "10.0 s", Again: "/webhooks/2/deliveries/3/redeliver", Subject: "Approval, 2 minutes ago"},
			{ID: "msg_2", Kind: "Needs authorization", State: templates.State{Kind: templates.StateOK, Text: "Delivered"}, Status: "200 OK", Tries: "1", Made: longAgo, Tried: longAgo, Took: "45 ms"},
		},
	})
	pages["webhook-new"] = templates.Webhook(templates.WebhookPage{Frame: one, Webhook: chat, Choices: choices})
}

func scimSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("SCIM", templates.NavSettings, templates.Crumb{Text: "Settings", Href: "/settings"}))
	url := "https://patchbay.example.com/scim/v2"
	facts := []templates.Fact{{Label: "URL", Value: url, Mono: true, Copy: true}, {Label: "Last request", When: &never}}
	pages["scim"] = templates.SCIM(templates.SCIMPage{Frame: f, URL: url, Facts: facts[:1]})
	pages["scim-on"] = templates.SCIM(templates.SCIMPage{Frame: f, URL: url, Facts: facts, Enabled: true, Token: "pb_scim_" + strings.Repeat("a", 80)})
}

func registrySamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	agents := []templates.Choice{{Value: "support", Label: "Support", Chosen: true}, {Value: "nightly", Label: "A name that is as long as names may be, and a little longer than a line"}}
	all := templates.RegistryRow{Name: "Everybody", Href: "/registries/1", Lists: "All connectors", Access: "URL", LastUsed: ago}
	team := templates.RegistryRow{Name: "Support team", Href: "/registries/2", Lists: "1 agent", Access: "URL and token", LastUsed: never}
	list := with(frame("Registries", templates.NavRegistries))
	pages["registries"] = templates.Registries(templates.RegistriesPage{Frame: list, Rows: []templates.RegistryRow{all, team}, Count: "2 registries"})
	pages["registries-empty"] = templates.Registries(templates.RegistriesPage{Frame: list})
	pages["registry-add"] = templates.NewRegistry(templates.NewRegistryPage{Frame: list, Agents: agents, Form: templates.Form{
		Values: map[string]string{"name": "Support team", "lists": "agents"}, Errors: map[string]string{"agents": "Choose at least one agent, or all connectors."},
	}})
	one := with(frame("Support team", templates.NavRegistries, templates.Crumb{Text: "Registries", Href: "/registries"}))
	pages["registry"] = templates.Registry(templates.RegistryPage{
		Frame: one, Registry: team, Agents: agents, Form: templates.Form{Values: map[string]string{"name": team.Name, "lists": "agents", "token_required": "true"}},
		Facts: []templates.Fact{{Label: "Last used", When: &never}, {Label: "ID", Value: "01890000-0000-7000-8000-000000000002", Mono: true, Copy: true}},
		URL:   "https://patchbay.example.com/registry/0123456789abcdef0123456789abcdef01234567",
	})
}
