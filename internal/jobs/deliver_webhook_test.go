package jobs_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/jobs"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/webhooks"
)

// newPost returns a Post that retries at once.
func (b *bundle) newPost() *webhooks.Post {
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	return webhooks.New(webhooks.Options{
		Store: b.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, Jitter: func(time.Duration) time.Duration { return time.Millisecond },
	})
}

func (b *bundle) startWebhooks(t *testing.T) {
	t.Helper()
	r, err := jobs.New(jobs.Options{
		Pool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards,
		Parts: []jobs.Module{jobs.Webhooks(b.newPost(), b.St.System(), slog.New(slog.DiscardHandler))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
}

// receive starts a receiver that fails the first request and returns the received ids.
func receive(t *testing.T) (url string, ids <-chan string) {
	t.Helper()
	came := make(chan string, 100)
	first := true
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if first {
			first = false
			w.WriteHeader(http.StatusInternalServerError)
		}
		came <- r.Header.Get("webhook-id")
	}))
	t.Cleanup(there.Close)
	return there.URL, came
}

func (b *bundle) createDelivery(t *testing.T, url string) connectors.Delivery {
	t.Helper()
	hook, err := b.Door().Webhooks().Create(t.Context(), connectors.Webhook{Name: "Hook", URL: url}, store.WebhookSecrets{Now: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Door().People().AddNotice(t.Context(), store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down"}); err != nil {
		t.Fatal(err)
	}
	list, err := b.Door().Webhooks().Deliveries(t.Context(), hook.ID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	return list.Items[0]
}

func wantDelivered(t *testing.T, ids <-chan string, d connectors.Delivery) {
	t.Helper()
	select {
	case id := <-ids:
		if id != "msg_"+d.ID.String() {
			t.Errorf("received %s, want %s", id, d.ID)
		}
	case <-time.After(patience):
		t.Fatal("nothing was received")
	}
}

func TestDelivery_SurvivesItsProcessAndIsRetried(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	url, ids := receive(t)
	d := b.createDelivery(t, url) // its process ends: no worker runs yet
	b.startWebhooks(t)
	wantDelivered(t, ids, d)
	wantDelivered(t, ids, d)
}

func TestDelivery_WithoutAJobIsRequeued(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	url, ids := receive(t)
	d := b.createDelivery(t, url)
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		for _, statement := range []string{
			"select set_config('app.system', 'on', true)", "delete from river_job", "update webhook_deliveries set next_at = now() - interval '3 minutes'",
		} {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.startWebhooks(t) // the first sweep comes with the first leader
	wantDelivered(t, ids, d)
}
