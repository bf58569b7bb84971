package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// createWebhook creates a webhook with a pending delivery.
func (w *world) createWebhook(t *testing.T, tenant connectors.TenantID) (connectors.Webhook, connectors.Delivery) {
	t.Helper()
	door := w.St.Tenant(tenant)
	hook, err := door.Webhooks().Create(t.Context(), connectors.Webhook{Name: "Hook", URL: "http://127.0.0.1:9/"}, store.WebhookSecrets{Now: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	if err := door.People().AddNotice(t.Context(), store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down", Link: "/connectors/linear"}); err != nil {
		t.Fatal(err)
	}
	list, err := door.Webhooks().Deliveries(t.Context(), hook.ID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	return hook, list.Items[0]
}

func TestAWebhookIsMadeTestedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	came := make(chan string, 10)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- r.Header.Get("webhook-id") + string(body)
	}))
	t.Cleanup(there.Close)

	made := w.call(t, admin, http.MethodPost, "/api/v1/webhooks", map[string]any{"name": " Chat ", "url": there.URL, "kinds": []string{"approval.waiting"}}).want(http.StatusCreated)
	secret, _ := made["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") || made["name"] != "Chat" || made["state"] != "active" || made["enabled"] != true || made["disabled_reason"] != nil {
		t.Errorf("%v", made)
	}
	path := "/api/v1/webhooks/" + made["id"].(string)
	delete(made, "secret")
	if diff := cmp.Diff(made, w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)); diff != "" {
		t.Error(diff)
	}
	tested := w.call(t, admin, http.MethodPost, path+"/test", nil).want(http.StatusOK)
	if got := <-came; !strings.HasPrefix(got, tested["message_id"].(string)+"{") || tested["state"] != "delivered" || tested["status"] != 200.0 || tested["type"] != "webhook.test" {
		t.Errorf("%s, %v", got, tested)
	}
	rotated := w.call(t, admin, http.MethodPost, path+"/rotate_secret", nil).want(http.StatusOK)
	if again := rotated["secret"]; again == secret || rotated["rotating_until"] == nil {
		t.Errorf("%v", rotated)
	}
	changed := w.call(t, admin, http.MethodPatch, path, `{"kinds": [], "enabled": false}`).want(http.StatusOK)
	if diff := cmp.Diff([]any{}, changed["kinds"]); diff != "" || changed["state"] != "disabled" || changed["name"] != "Chat" {
		t.Errorf("%v", changed)
	}
	told := w.call(t, admin, http.MethodGet, path+"/deliveries", nil).want(http.StatusOK)["items"].([]any)
	if len(told) != 1 || told[0].(map[string]any)["id"] != tested["id"] {
		t.Errorf("%v", told)
	}
	w.call(t, admin, http.MethodPost, path+"/deliveries/"+tested["id"].(string)+"/redeliver", nil).problem(http.StatusConflict, "conflict")
	w.call(t, admin, http.MethodPatch, path, `{"enabled": true}`).want(http.StatusOK)
	again := w.call(t, admin, http.MethodPost, path+"/deliveries/"+tested["id"].(string)+"/redeliver", nil).want(http.StatusOK)
	if again["state"] != "waiting" || again["message_id"] != tested["message_id"] {
		t.Errorf("%v", again)
	}
	if got := w.call(t, admin, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodGet, path, nil).problem(http.StatusNotFound, "not-found")
}

func TestAWebhooksFieldsAreCheckedAtTheDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for body, at := range map[string][]string{
		`{}`:                              {"name", "url"},
		`{"name": "A", "url": "nowhere"}`: {"url"},
		`{"name": "A", "url": "http://10.0.0.1/"}`:                                    {"url"},
		`{"name": "A", "url": "https://hooks.example.com/", "kinds": ["everything"]}`: {"kinds"},
		`{"name": "A", "url": "https://hooks.example.com/", "secret": "mine"}`:        {"secret"},
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/webhooks", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff(at, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestASecretOfAWebhookComesOutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	made := w.call(t, owner, http.MethodPost, "/api/v1/webhooks", `{"name": "A", "url": "http://127.0.0.1:9/"}`).want(http.StatusCreated)
	path := "/api/v1/webhooks/" + made["id"].(string)
	rotated := w.call(t, owner, http.MethodPost, path+"/rotate_secret", nil).want(http.StatusOK)
	everything := w.log.String()
	for _, r := range []reply{
		w.call(t, owner, http.MethodGet, "/api/v1/webhooks", nil), w.call(t, owner, http.MethodGet, path, nil),
		w.call(t, owner, http.MethodPatch, path, `{"name": "B"}`), w.call(t, owner, http.MethodPost, path+"/test", nil),
		w.call(t, owner, http.MethodGet, path+"/deliveries", nil), w.call(t, owner, http.MethodGet, "/api/v1/notices", nil),
		w.call(t, owner, http.MethodPatch, path, `{"url": "http://10.0.0.1/"}`),
	} {
		everything += string(r.body)
	}
	for _, secret := range []any{made["secret"], rotated["secret"]} {
		if strings.Contains(everything, strings.TrimPrefix(secret.(string), "whsec_")) {
			t.Errorf("a secret comes out again")
		}
	}
}

func TestNoticesAreListedAndReadByPeopleAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	w.createWebhook(t, w.Tenant)
	items := w.call(t, viewer, http.MethodGet, "/api/v1/notices", nil).want(http.StatusOK)["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("%v", items)
	}
	if n := items[0].(map[string]any); n["title"] != "Linear is down" || n["kind"] != "connector.down" || n["read"] != nil || n["link"] != "/connectors/linear" {
		t.Errorf("%v", n)
	}
	w.call(t, viewer, http.MethodPost, "/api/v1/notices/read", nil).problem(http.StatusConflict, "conflict")
	w.call(t, viewer, http.MethodPost, "/api/v1/notices/read", `{"ids": "all"}`).problem(http.StatusUnprocessableEntity, "invalid")
}
