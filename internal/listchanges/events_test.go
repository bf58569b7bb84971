//nolint:staticcheck // logging is deprecated, and works all the same
package listchanges_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/listchanges"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// eventDetails are the details of both kinds of events.
type eventDetails struct {
	Connector  string
	Lists      []string
	Level      string
	Message    string
	Suppressed int
}

func (p *process) addWebhook(t *testing.T, kinds ...connectors.NoticeKind) connectors.Webhook {
	t.Helper()
	w, err := p.Door().Webhooks().Create(t.Context(), connectors.Webhook{Name: "Hook", URL: "https://hooks.example.com/", Kinds: kinds}, store.WebhookSecrets{Now: "whsec_x"})
	must(t, err)
	return w
}

// events are the details of a webhook's deliveries, oldest first.
func (p *process) events(t *testing.T, w connectors.Webhook, kind connectors.NoticeKind) (all []eventDetails) {
	t.Helper()
	list, err := p.Door().Webhooks().Deliveries(t.Context(), w.ID, store.Page{Limit: 100})
	must(t, err)
	for i := range list.Items {
		d := list.Items[len(list.Items)-1-i]
		var body connectors.DeliveryBody
		must(t, json.Unmarshal(d.Body, &body))
		if d.Kind != kind {
			continue
		}
		if body.NoticeID != "" || d.NoticeID != nil {
			t.Errorf("the event has the notice %q", body.NoticeID)
		}
		var details eventDetails
		must(t, json.Unmarshal(body.Details, &details))
		all = append(all, details)
	}
	return all
}

func TestEvents_ListChangesReachWebhooksThatNameThem(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	named, all := p.addWebhook(t, connectors.EventListChanged), p.addWebhook(t)
	up := serve(t, false)
	c := p.addConnector(t, up.url)
	p.waitState(t, c, connectors.ListenListening, "")
	up.addTool("second")
	within(t, "an event", func() bool { return len(p.events(t, named, connectors.EventListChanged)) > 0 })
	if got := p.events(t, named, connectors.EventListChanged)[0]; got.Connector != c.Slug || strings.Join(got.Lists, " ") != "tools" {
		t.Errorf("%+v", got)
	}
	if got := p.events(t, all, connectors.EventListChanged); len(got) != 0 {
		t.Errorf("a webhook of all notices got %+v", got)
	}
}

func TestEvents_ErrorMessagesAreRedactedAndBounded(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t), func(o *listchanges.Options) { o.MessageInterval = 2 * time.Second })
	hook := p.addWebhook(t, connectors.EventMessage)
	up := serve(t, false)
	c := p.addConnector(t, up.url, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
	p.waitState(t, c, connectors.ListenListening, "")
	say := func(level sdk.LoggingLevel, data any) {
		t.Helper()
		for s := range up.Sessions() {
			must(t, s.Log(context.WithoutCancel(t.Context()), &sdk.LoggingMessageParams{Level: level, Logger: "db", Data: data}))
		}
	}
	say("warning", "not this")
	say("error", map[string]any{"password": "hunter2", "text": strings.Repeat("long ", 1000)})
	within(t, "the first event", func() bool { return len(p.events(t, hook, connectors.EventMessage)) > 0 })
	for range 5 {
		say("critical", "the last")
	}
	var all []eventDetails
	within(t, "the others", func() bool {
		all = p.events(t, hook, connectors.EventMessage)
		reported := 0
		for _, e := range all {
			reported += 1 + e.Suppressed
		}
		return reported == 6
	})
	first, last := all[0], all[len(all)-1]
	if first.Level != "error" || len(first.Message) > 2<<10 || strings.Contains(first.Message, "hunter2") || first.Suppressed != 0 || first.Connector != c.Slug {
		t.Errorf("%+v", first)
	}
	if last.Level != "critical" || last.Message != "the last" || len(all) == 6 {
		t.Errorf("%d events, the last %+v", len(all), last)
	}
	if l := p.listening(t, c); l.State != connectors.ListenListening {
		t.Errorf("%+v", l)
	}
}
