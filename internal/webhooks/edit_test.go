package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/webhooks"
)

func TestCreate_ValidatesFields(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	good, _ := w.addWebhook(t, "https://hooks.example.com/")
	for name, tc := range map[string]struct {
		hook connectors.Webhook
		at   []string
	}{
		"nothing":        {connectors.Webhook{}, []string{"name", "url"}},
		"an address":     {connectors.Webhook{Name: "A", URL: "http://169.254.169.254/latest/meta-data"}, []string{"url"}},
		"no address":     {connectors.Webhook{Name: "A", URL: "hooks"}, []string{"url"}},
		"a user":         {connectors.Webhook{Name: "A", URL: "https://ann:pw@hooks.example.com/"}, []string{"url"}},
		"another scheme": {connectors.Webhook{Name: "A", URL: "file:///etc/passwd"}, []string{"url"}},
		"a kind":         {connectors.Webhook{Name: "A", URL: "https://hooks.example.com/", Kinds: []connectors.NoticeKind{"webhook.test"}}, []string{"kinds"}},
		"a hidden name":  {connectors.Webhook{Name: "A\u202e", URL: "https://hooks.example.com/"}, []string{"name"}},
	} {
		_, _, err := w.post.Create(t.Context(), w.admin, tc.hook)
		_, changed := w.post.Update(t.Context(), w.admin, good.ID, webhooks.Change{Name: &tc.hook.Name, URL: &tc.hook.URL, Kinds: &tc.hook.Kinds})
		for _, err := range []error{err, changed} {
			var at []string
			for _, f := range fault.As(err).Fields {
				at = append(at, f.Location)
			}
			if diff := cmp.Diff(tc.at, at); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestWebhooks_RequireAnAdmin(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	hook, _ := w.addWebhook(t, "https://hooks.example.com/")
	member := w.admin
	member.Role = connectors.RoleMember
	_, _, create := w.post.Create(t.Context(), member, hook)
	_, update := w.post.Update(t.Context(), member, hook.ID, webhooks.Change{})
	_, _, rotate := w.post.RotateSecret(t.Context(), member, hook.ID)
	_, test := w.post.Test(t.Context(), member, hook.ID)
	_, again := w.post.Redeliver(t.Context(), member, hook.ID, connectors.DeliveryID{})
	for i, err := range []error{create, update, rotate, test, again, w.post.Delete(t.Context(), member, hook.ID)} {
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestCreate_LimitsWebhooksPerTenant(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	for range connectors.MaxWebhooks {
		w.addWebhook(t, "https://hooks.example.com/")
	}
	if _, _, err := w.post.Create(t.Context(), w.admin, connectors.Webhook{Name: "One more", URL: "https://hooks.example.com/"}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func TestRotateSecret_BothSignForADay(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, old := w.addWebhook(t, there.URL)
	rotated, text, err := w.post.RotateSecret(t.Context(), w.admin, hook.ID)
	if err != nil || text == old || rotated.RotatingUntil == nil {
		t.Fatalf("%+v, %v", rotated, err)
	}
	w.deliver(t, w.addDelivery(t, hook), 0)
	w.ahead.Store(int64(24*time.Hour + time.Second))
	w.deliver(t, w.addDelivery(t, hook), 0)
	got := there.all()
	if len(got) != 2 {
		t.Fatalf("received %d", len(got))
	}
	if now, before := got[0].countSignatures(t, text), got[0].countSignatures(t, old); now != 1 || before != 1 {
		t.Errorf("on the day: %d by the new, %d by the old", now, before)
	}
	if now, before := got[1].countSignatures(t, text), got[1].countSignatures(t, old); now != 1 || before != 0 {
		t.Errorf("after it: %d by the new, %d by the old", now, before)
	}
}

func TestTest_IsSentOnceAndNotCounted(t *testing.T) {
	t.Parallel()
	status := http.StatusInternalServerError
	w, there := newWebhookTest(t), receive(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	hook, text := w.addWebhook(t, there.URL)
	off, err := w.post.Update(t.Context(), w.admin, hook.ID, webhooks.Change{Enabled: new(false)})
	if err != nil || off.State() != connectors.WebhookOff {
		t.Fatal(off, err)
	}
	d, err := w.post.Test(t.Context(), w.admin, hook.ID)
	if err != nil || d.State != connectors.DeliveryFailed || d.Status != status || d.NextAt != nil || d.Kind != connectors.NoticeWebhookTest {
		t.Errorf("%+v, %v", d, err)
	}
	status = http.StatusOK
	if d, err = w.post.Test(t.Context(), w.admin, hook.ID); err != nil || d.State != connectors.DeliveryDelivered {
		t.Errorf("%+v, %v", d, err)
	}
	got := there.all()
	if len(got) != 2 || got[1].countSignatures(t, text) != 1 || !strings.Contains(string(got[1].body), `"type":"webhook.test"`) {
		t.Errorf("received %v", got)
	}
	if hook = w.webhook(t, hook.ID); hook.Failures != 0 || len(w.notices(t)) != 0 {
		t.Errorf("webhook = %+v", hook)
	}
}

func TestRedeliver_SendsAFailedDelivery(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, _ := w.addWebhook(t, there.URL)
	d := w.deliver(t, w.addDelivery(t, hook), 0)
	again, err := w.post.Redeliver(t.Context(), w.admin, hook.ID, d.ID)
	if err != nil || again.State != connectors.DeliveryWaiting {
		t.Fatal(again, err)
	}
	w.deliver(t, again, 0)
	if got := there.all(); len(got) != 2 || got[0].header.Get("webhook-id") != got[1].header.Get("webhook-id") {
		t.Errorf("received %v", got)
	}
	if _, err := w.post.Update(t.Context(), w.admin, hook.ID, webhooks.Change{Enabled: new(false)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.post.Redeliver(t.Context(), w.admin, hook.ID, d.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("by one that is off: %v", err)
	}
	if d = w.newest(t, hook); d.State != connectors.DeliveryDelivered {
		t.Errorf("the refusal changed %+v", d)
	}
}

func TestSecret_IsShownOnlyAtCreation(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, respondWith(http.StatusInternalServerError))
	hook, first := w.addWebhook(t, there.URL+"/T0KEN-IN-THE-PATH")
	w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0])
	_, second, err := w.post.RotateSecret(t.Context(), w.admin, hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.post.Test(t.Context(), w.admin, hook.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.post.Delete(t.Context(), w.admin, hook.ID); err != nil {
		t.Fatal(err)
	}
	hook, third := w.addWebhook(t, there.URL)
	everywhere := w.dump(t) + w.log.String()
	for _, text := range []string{first.Reveal(), second.Reveal(), third.Reveal()} {
		if strings.Contains(everywhere, strings.TrimPrefix(text, "whsec_")) {
			t.Error("a secret stands in a row or in the log")
		}
	}
	if strings.Contains(w.log.String()+everywhere, "T0KEN-IN-THE-PATH") {
		t.Error("the path of an address stands in the log, or is left of a webhook that was deleted")
	}
	if !strings.Contains(everywhere, hook.ID.String()) || !strings.Contains(everywhere, "webhook.rotate_secret") {
		t.Error("nothing was looked at")
	}
}

func TestWebhook_InternationalisedHostIsASCII(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	const typed, stored = "https://bücher.example/hook", "https://xn--bcher-kva.example/hook"
	hook, _ := w.addWebhook(t, typed)
	if hook.URL != stored {
		t.Errorf("stored as %s", hook.URL)
	}
	hook, err := w.post.Update(t.Context(), w.admin, hook.ID, webhooks.Change{URL: new("https://größe.example/")})
	if err != nil || hook.URL != "https://xn--gre-6ka8i.example/" {
		t.Errorf("changed to %s, %v", hook.URL, err)
	}
	for name, misleading := range map[string]string{
		"a Cyrillic letter": "https://p\u0430ypal.example/",
		"full-width digits": "https://１２７.0.0.1/",
	} {
		_, err := w.post.Update(t.Context(), w.admin, hook.ID, webhooks.Change{URL: &misleading})
		if f := fault.As(err); f == nil || len(f.Fields) != 1 || f.Fields[0].Location != "url" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
