package webhooks_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/webhooks"
)

// webhookTest is a world with a sender without jitter and an adjustable clock.
type webhookTest struct {
	*fixture.World
	post  *webhooks.Post
	log   *syncBuffer
	admin auth.Actor
	ahead atomic.Int64
}

func newWebhookTest(t *testing.T, opts ...func(*webhooks.Options)) *webhookTest {
	t.Helper()
	w := &webhookTest{World: fixture.New(t), log: &syncBuffer{}}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local, UserAgent: "Patchbay/test"})
	o := webhooks.Options{
		Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: "https://patchbay.example.com",
		Log:    slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		Jitter: func(d time.Duration) time.Duration { return d },
	}
	for _, opt := range opts {
		opt(&o)
	}
	w.post = webhooks.New(o)
	self, err := w.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.admin = auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleAdmin, Name: "Ann"}
	return w
}

func (w *webhookTest) addWebhook(t *testing.T, url string) (connectors.Webhook, secret.Text) {
	t.Helper()
	hook, text, err := w.post.Create(t.Context(), w.admin, connectors.Webhook{Name: "Hook", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return hook, text
}

// addDelivery adds a notice and returns its delivery.
func (w *webhookTest) addDelivery(t *testing.T, hook connectors.Webhook) connectors.Delivery {
	t.Helper()
	err := w.Door().People().AddNotice(t.Context(), store.NewNotice{
		Kind: connectors.NoticeDown, Title: "Linear is down", Body: "It does not answer.", Link: "/connectors/linear", Data: map[string]any{"connector": "linear"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.newest(t, hook)
}

func (w *webhookTest) newest(t *testing.T, hook connectors.Webhook) connectors.Delivery {
	t.Helper()
	list, err := w.Door().Webhooks().Deliveries(t.Context(), hook.ID, store.Page{Limit: 1})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	return list.Items[0]
}

// deliver tries a delivery and checks the delay of the next try.
func (w *webhookTest) deliver(t *testing.T, d connectors.Delivery, again time.Duration) connectors.Delivery {
	t.Helper()
	got, err := w.post.Deliver(t.Context(), w.Tenant, d.ID)
	if err != nil || got != again {
		t.Errorf("to be tried again after %v, want %v; %v", got, again, err)
	}
	d, err = w.Door().Webhooks().Delivery(t.Context(), d.ID)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w *webhookTest) webhook(t *testing.T, id connectors.WebhookID) connectors.Webhook {
	t.Helper()
	hook, err := w.Door().Webhooks().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

func (w *webhookTest) notices(t *testing.T) []connectors.Notice {
	t.Helper()
	list, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// exec changes rows, for example to move their times.
func (w *webhookTest) exec(t *testing.T, statement string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// makeDue makes the waiting deliveries due.
func (w *webhookTest) makeDue(t *testing.T) {
	t.Helper()
	w.exec(t, `update webhook_deliveries set next_at = now() where state = 'waiting'`)
}

// receiver is a webhook's server.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received // guarded by mu
}

type received struct {
	header http.Header
	body   []byte
}

// receive starts a receiver whose handler runs after the body is read; nil: 204.
func receive(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || q.Method != http.MethodPost {
			t.Errorf("%s: %v", q.Method, err)
		}
		r.mu.Lock()
		r.got = append(r.got, received{header: q.Header.Clone(), body: body})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func respondWith(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.got...)
}

// countSignatures counts the signatures by a secret, verified as the specification says.
func (g received) countSignatures(t *testing.T, text secret.Text) int {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text.Reveal(), "whsec_"))
	if err != nil || len(key) < 24 || !strings.HasPrefix(text.Reveal(), "whsec_") {
		t.Fatalf("the secret is none of the specification's: %v", err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, g.header.Get("webhook-id")+"."+g.header.Get("webhook-timestamp")+"."+string(g.body))
	want, n := "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), 0
	for signature := range strings.FieldsSeq(g.header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) {
			n++
		}
	}
	return n
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// dump is every row of notices, deliveries, audit entries and jobs.
func (w *webhookTest) dump(t *testing.T) (text string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `
			select concat_ws(' ', (select string_agg(n::text, ' ') from notices n), (select string_agg(w::text, ' ') from webhooks w),
			    (select string_agg(encode(sealed, 'escape'), ' ') from webhooks), (select string_agg(d::text, ' ') from webhook_deliveries d),
			    (select string_agg(a::text, ' ') from audit_events a), (select string_agg(j::text, ' ') from river_job j))`).Scan(&text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
