package webhooks_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/egressproxy"
	"patchbay/internal/webhooks"
)

func TestSign_MatchesReferenceLibraries(t *testing.T) {
	t.Parallel()
	// Values of the reference implementations' tests (standard-webhooks, libraries/*/tests).
	got, err := webhooks.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil || got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestDeliver_SendsASignedEventOfAServer(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, text, err := w.post.Create(t.Context(), w.admin, connectors.Webhook{Name: "Hook", URL: there.URL, Kinds: []connectors.NoticeKind{connectors.EventMessage}})
	if err != nil {
		t.Fatal(err)
	}
	event := connectors.MessageEvent(connectors.ConnectorName{Slug: "linear", Name: "Linear"}, connectors.ServerMessage{Level: "error", Text: "No disk.", Suppressed: 3})
	if err := w.Door().Webhooks().AddEvent(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	w.deliver(t, w.newest(t, hook), 0)
	got := there.all()
	if len(got) != 1 || got[0].countSignatures(t, text) != 1 {
		t.Fatalf("received %d, signed %v", len(got), got)
	}
	var body struct {
		Type string
		Data struct {
			NoticeID *string `json:"notice_id"`
			Title    string
			Text     string
			Details  struct {
				Connector, Level, Message string
				Suppressed                int
			}
		}
	}
	if err := json.Unmarshal(got[0].body, &body); err != nil {
		t.Fatal(err)
	}
	details := body.Data.Details
	if body.Type != "connector.message" || body.Data.NoticeID != nil || body.Data.Title != "Linear reports: error (and 3 more)" || body.Data.Text != "No disk." ||
		details.Connector != "linear" || details.Level != "error" || details.Message != "No disk." || details.Suppressed != 3 {
		t.Errorf("body = %s", got[0].body)
	}
	if notices := w.notices(t); len(notices) != 0 {
		t.Errorf("notices = %+v", notices)
	}
}

func TestDeliver_SendsASignedNoticeOnce(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, text := w.addWebhook(t, there.URL+"/hook?key=1")
	d := w.addDelivery(t, hook)
	for range 2 {
		d = w.deliver(t, d, 0)
	}
	got := there.all()
	if len(got) != 1 || got[0].countSignatures(t, text) != 1 {
		t.Fatalf("received %d, signed %v", len(got), got)
	}
	h := got[0].header
	if h.Get("webhook-id") != "msg_"+d.ID.String() || h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "Patchbay/test" {
		t.Errorf("header = %v", h)
	}
	var body struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			Title, Text, URL string
			Details          map[string]string
		}
	}
	if err := json.Unmarshal(got[0].body, &body); err != nil {
		t.Fatal(err)
	}
	if body.Type != "connector.down" || !body.Timestamp.Equal(d.CreatedAt) || body.Data.Title != "Linear is down" ||
		body.Data.URL != "https://patchbay.example.com/connectors/linear" || body.Data.Details["connector"] != "linear" {
		t.Errorf("body = %s", got[0].body)
	}
	if d.State != connectors.DeliveryDelivered || d.Status != http.StatusNoContent || d.Tries != 1 || d.Error != "" {
		t.Errorf("delivery = %+v", d)
	}
	if hook = w.webhook(t, hook.ID); hook.DeliveredAt == nil || hook.State() != connectors.WebhookActive {
		t.Errorf("webhook = %+v", hook)
	}
}

func TestDeliver_RetriesOnScheduleWithTheSameID(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, respondWith(http.StatusInternalServerError))
	hook, text := w.addWebhook(t, there.URL)
	d := w.addDelivery(t, hook)
	for _, wait := range append(webhooks.Schedule, 0) {
		d = w.deliver(t, d, wait)
		w.makeDue(t)
	}
	if d.State != connectors.DeliveryFailed || d.Tries != 10 || d.Error != "It answered 500 Internal Server Error." {
		t.Errorf("delivery = %+v", d)
	}
	got := there.all()
	for _, g := range got {
		if g.header.Get("webhook-id") != "msg_"+d.ID.String() || string(g.body) != string(got[0].body) || g.countSignatures(t, text) != 1 {
			t.Errorf("a try was another one: %v %s", g.header, g.body)
		}
	}
	if hook = w.webhook(t, hook.ID); len(got) != 10 || hook.Failures != 10 || hook.State() != connectors.WebhookTrouble {
		t.Errorf("%d tries, webhook = %+v", len(got), hook)
	}
}

func TestDeliver_ExplainsFailures(t *testing.T) {
	t.Parallel()
	elsewhere := receive(t, nil)
	released := make(chan struct{})
	defer close(released)
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a redirect": {http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP, "It answered 302, a redirect that Patchbay doesn't follow. Enter the URL it redirects to."},
		"silence":    {func(http.ResponseWriter, *http.Request) { <-released }, "It didn't answer within 0.2 seconds."},
		"hanging up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "It closed the connection without responding."},
		"no status":  {respondWith(599), "It answered 599."},
	} {
		w, there := newWebhookTest(t, func(o *webhooks.Options) { o.Timeout = 200 * time.Millisecond }), receive(t, tc.answer)
		hook, _ := w.addWebhook(t, there.URL)
		if d := w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0]); d.Error != tc.want || d.State != connectors.DeliveryWaiting {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if n := len(elsewhere.all()); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	w, gone := newWebhookTest(t), receive(t, nil)
	gone.Close()
	hook, _ := w.addWebhook(t, gone.URL)
	if d := w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0]); d.Error != "It refused the connection." || d.Status != 0 {
		t.Errorf("nobody there: %+v", d)
	}
}

func TestDeliver_ChecksEgressRulesEachTime(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, _ := w.addWebhook(t, there.URL)
	d := w.addDelivery(t, hook)
	strict := safehttp.New(safehttp.Options{Mode: safehttp.Public})
	w.post = webhooks.New(webhooks.Options{Store: w.St, HTTP: strict.Client(), CheckURL: strict.CheckURL, Jitter: func(d time.Duration) time.Duration { return d }})
	d = w.deliver(t, d, webhooks.Schedule[0])
	if !strings.Contains(d.Error, "is loopback. The operator can allow it in PATCHBAY_EGRESS_ALLOW.") || len(there.all()) != 0 {
		t.Errorf("%+v, received %d", d, len(there.all()))
	}
}

func TestDeliver_RespectsRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		after  string
		want   time.Duration
	}{
		"a while":               {http.StatusTooManyRequests, "7200", 2 * time.Hour},
		"nothing":               {http.StatusServiceUnavailable, "", time.Minute},
		"for ever":              {http.StatusServiceUnavailable, "99999999", 24 * time.Hour},
		"a while, yet it broke": {http.StatusInternalServerError, "7200", 5 * time.Second},
	} {
		w, there := newWebhookTest(t), receive(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tc.after)
			w.WriteHeader(tc.status)
		})
		hook, _ := w.addWebhook(t, there.URL)
		if d := w.deliver(t, w.addDelivery(t, hook), tc.want); d.State != connectors.DeliveryWaiting {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDeliver_GoneDisablesTheWebhook(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, respondWith(http.StatusGone))
	hook, _ := w.addWebhook(t, there.URL)
	other, _ := w.addWebhook(t, receive(t, nil).URL)
	waits, d := w.addDelivery(t, hook), w.addDelivery(t, hook)
	w.deliver(t, d, webhooks.Schedule[0])
	hook = w.webhook(t, hook.ID)
	if hook.Enabled || hook.DisabledWhy != connectors.WebhookGone {
		t.Errorf("webhook = %+v", hook)
	}
	if waits = w.deliver(t, waits, 0); waits.State != connectors.DeliveryCancelled || len(there.all()) != 1 {
		t.Errorf("what waited: %+v; received %d", waits, len(there.all()))
	}
	if n := w.notices(t)[0]; n.Kind != connectors.NoticeWebhookOff || n.Link != "/webhooks/"+hook.ID.String() {
		t.Errorf("notice = %+v", n)
	}
	if w.newest(t, other).Kind != connectors.NoticeWebhookOff {
		t.Error("the other webhook is not told")
	}
	on, err := w.post.Update(t.Context(), w.admin, hook.ID, webhooks.Change{Enabled: new(true)})
	if err != nil || on.DisabledWhy != "" || on.Failures != 0 || on.State() != connectors.WebhookActive {
		t.Errorf("turned on again: %+v, %v", on, err)
	}
}

func TestDeliver_DisablesAfterDaysOfFailures(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, respondWith(http.StatusInternalServerError))
	hook, _ := w.addWebhook(t, there.URL)
	w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0])
	w.exec(t, `update webhooks set failing_since = now() - interval '71 hours'`)
	w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0])
	if !w.webhook(t, hook.ID).Enabled {
		t.Error("it is off too early")
	}
	w.exec(t, `update webhooks set failing_since = now() - interval '73 hours'`)
	w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0])
	if hook = w.webhook(t, hook.ID); hook.Enabled || hook.DisabledWhy != connectors.WebhookFailing || w.notices(t)[0].Kind != connectors.NoticeWebhookOff {
		t.Errorf("webhook = %+v", hook)
	}
}

func TestDeliver_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, _ := w.addWebhook(t, there.URL)
	d := w.addDelivery(t, hook)
	var processes sync.WaitGroup
	for range 4 {
		processes.Go(func() {
			if _, err := w.post.Deliver(t.Context(), w.Tenant, d.ID); err != nil {
				t.Error(err)
			}
		})
	}
	processes.Wait()
	if n := len(there.all()); n != 1 {
		t.Errorf("received %d times", n)
	}
}

func TestDeliver_ResendsAfterItsProcessDied(t *testing.T) {
	t.Parallel()
	w, there := newWebhookTest(t), receive(t, nil)
	hook, _ := w.addWebhook(t, there.URL)
	d := w.addDelivery(t, hook)
	if _, claimed, err := w.Door().Webhooks().ClaimDelivery(t.Context(), d.ID, time.Hour); !claimed || err != nil { // the process dies
		t.Fatal(claimed, err)
	}
	again, err := w.post.Deliver(t.Context(), w.Tenant, d.ID)
	if err != nil || again < 59*time.Minute || again > time.Hour || len(there.all()) != 0 {
		t.Errorf("while it is claimed: again after %v, %v; received %d", again, err, len(there.all()))
	}
	w.makeDue(t)
	d = w.deliver(t, d, 0)
	if got := there.all(); len(got) != 1 || got[0].header.Get("webhook-id") != "msg_"+d.ID.String() || d.Tries != 2 {
		t.Errorf("received %v, delivery %+v", got, d)
	}
}

func TestDeliver_HungReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	came, released := make(chan struct{}, 10), make(chan struct{})
	hanging := receive(t, func(http.ResponseWriter, *http.Request) { came <- struct{}{}; <-released })
	hung, _ := w.addWebhook(t, strings.Replace(hanging.URL, "127.0.0.1", "localhost", 1))
	there := receive(t, nil)
	well, _ := w.addWebhook(t, there.URL)
	var tries sync.WaitGroup
	for range 4 {
		d := w.addDelivery(t, hung)
		tries.Go(func() { _, _ = w.post.Deliver(t.Context(), w.Tenant, d.ID) })
	}
	for range 4 {
		<-came
	}
	fifth := w.addDelivery(t, hung)
	if fifth = w.deliver(t, fifth, 5*time.Second); fifth.Tries != 0 {
		t.Errorf("a fifth is tried: %+v", fifth)
	}
	if d := w.deliver(t, w.newest(t, well), 0); d.State != connectors.DeliveryDelivered {
		t.Errorf("the other host's delivery is %+v", d)
	}
	close(released)
	tries.Wait()
	if fifth = w.deliver(t, fifth, 0); fifth.State != connectors.DeliveryDelivered {
		t.Errorf("afterwards: %+v", fifth)
	}
}

func TestDeliver_ReportsAProxyFailure(t *testing.T) {
	t.Parallel()
	beyond := safehttp.New(safehttp.Options{Mode: safehttp.Public, Proxy: egressproxy.Refusing(t, http.StatusProxyAuthRequired)})
	w := newWebhookTest(t, func(o *webhooks.Options) { o.HTTP, o.CheckURL = beyond.Client(), beyond.CheckURL })
	hook, _ := w.addWebhook(t, "https://8.8.8.8/hook")
	d := w.deliver(t, w.addDelivery(t, hook), webhooks.Schedule[0])
	if d.Error != "The egress proxy refused Patchbay's credentials (407). Ask the operator to check PATCHBAY_EGRESS_PROXY." || d.Status != 0 {
		t.Errorf("%+v", d)
	}
}
