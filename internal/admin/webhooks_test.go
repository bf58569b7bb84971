package admin_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// createWebhook creates a webhook with a pending delivery.
func (d *dashboard) createWebhook(tenant connectors.TenantID) (connectors.Webhook, connectors.Delivery) {
	d.t.Helper()
	door := d.St.Tenant(tenant)
	hook, err := door.Webhooks().Create(d.t.Context(), connectors.Webhook{Name: "Hook", URL: "http://127.0.0.1:9/"}, store.WebhookSecrets{Now: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := door.People().AddNotice(d.t.Context(), store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down"}); err != nil {
		d.t.Fatal(err)
	}
	list, err := door.Webhooks().Deliveries(d.t.Context(), hook.ID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		d.t.Fatal(list, err)
	}
	return hook, list.Items[0]
}

// startReceiver responds with a status.
func startReceiver(t *testing.T, status *int) string {
	t.Helper()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(*status) }))
	t.Cleanup(there.Close)
	return there.URL + "/a-secret-path"
}

func TestWebhook_Lifecycle(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, status := d.signInAsRole(connectors.RoleAdmin), http.StatusOK
	b.get("/webhooks").want(t, http.StatusOK, "No webhooks yet")
	wrong := b.post("/webhooks", url.Values{"name": {"Chat"}, "url": {"http://10.0.0.1/"}, "kind": {"approval.waiting"}})
	wrong.want(t, http.StatusUnprocessableEntity, "is private")
	if !strings.Contains(wrong.Body, `value="approval.waiting" checked`) {
		t.Error("the choice of kinds is lost")
	}
	made := b.post("/webhooks", url.Values{"name": {"Chat"}, "url": {startReceiver(t, &status)}, "kind": {"approval.waiting", "connector.down"}})
	made.want(t, http.StatusOK, "Secret of “Chat”", "shown only once", "whsec_")
	_, secret, _ := strings.Cut(made.Body, "whsec_")
	secret = secret[:44]
	hook := d.findOnlyWebhook()
	path := "/webhooks/" + hook.ID.String()
	if p := b.get(path); p.says(secret) || !p.says("Nothing sent yet") {
		t.Error("the page shows the secret again")
	}
	if p := b.get("/webhooks"); p.says("a-secret-path") || !p.says("2 events") {
		t.Error("the list shows more than the host")
	}
	b.submit(path+"/test", nil).want(t, http.StatusOK, "Test delivered in ", "Delivered", "200 OK")
	status = http.StatusTeapot
	b.submit(path+"/test", nil).want(t, http.StatusOK, "Test failed: It answered 418 I'm a teapot.", "Failed")
	if p := b.post(path+"/rotate", nil); p.says(secret) || !p.says("whsec_") || !p.says("Old secret expires") {
		t.Error("the rotation shows no new secret")
	}
	list, err := d.Door().Webhooks().Deliveries(t.Context(), hook.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	b.submit(path+"/deliveries/"+list.Items[0].ID.String()+"/redeliver", nil).want(t, http.StatusOK, "Resending. Reload to see the result.")
	b.submit(path, url.Values{"name": {"Chat of all"}, "url": {hook.URL}}).want(t, http.StatusOK, "Webhook saved.", "Chat of all")
	b.submit(path, url.Values{"enabled": {"false"}}).want(t, http.StatusOK, "Disabled “Chat of all”.", "Cancelled")
	if hook = d.findOnlyWebhook(); hook.Enabled || len(hook.Kinds) != 0 {
		t.Errorf("saved as %+v", hook)
	}
	b.submit(path+"/delete", nil).want(t, http.StatusOK, "Webhook deleted.", "No webhooks yet")
	if strings.Contains(d.log.String(), secret) || strings.Contains(d.log.String(), "a-secret-path") {
		t.Error("the log holds a secret")
	}
}

func TestWebhook_ForAChat(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, status := d.signInAsRole(connectors.RoleAdmin), http.StatusOK
	add := url.Values{"name": {"Ops"}, "url": {startReceiver(t, &status)}, "format": {"teams"}, "events": {"chosen"}}
	b.post("/webhooks", add).want(t, http.StatusUnprocessableEntity, "Select at least one event.", `value="teams" selected`, `value="chosen" checked`)
	add.Set("events", "all")
	add.Set("kind", "approval.waiting") // hidden, for all are wanted
	if p := b.submit("/webhooks", add); p.says("whsec_") || !p.says("Webhook added. Send a test.") || p.says("New secret") {
		t.Errorf("the page of a chat's webhook shows a secret: %s", p.Body)
	}
	hook := d.findOnlyWebhook()
	if hook.Format != connectors.WebhookTeams || len(hook.Kinds) != 0 {
		t.Errorf("added as %+v", hook)
	}
	path := "/webhooks/" + hook.ID.String()
	b.submit(path+"/test", nil).want(t, http.StatusOK, "Test delivered in ")
	b.submit(path, url.Values{"name": {"Ops"}, "url": {hook.URL}, "format": {"slack"}, "events": {"all"}, "enabled": {"true"}}).want(t, http.StatusOK, "Webhook saved.")
	if hook = d.findOnlyWebhook(); hook.Format != connectors.WebhookSlack || !hook.Enabled {
		t.Errorf("saved as %+v", hook)
	}
	b.get("/webhooks").want(t, http.StatusOK, "Slack", "All events")
	b.submit(path, url.Values{"name": {"Ops"}, "url": {hook.URL}, "format": {"irc"}, "events": {"all"}}).want(t, http.StatusUnprocessableEntity, "Must be json, slack or teams.")
}

func (d *dashboard) findOnlyWebhook() connectors.Webhook {
	d.t.Helper()
	list, err := d.Door().Webhooks().List(d.t.Context(), store.Page{})
	if err != nil || len(list.Items) != 1 {
		d.t.Fatal(list, err)
	}
	return list.Items[0]
}
