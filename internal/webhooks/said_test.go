package webhooks_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// What a server said of a failure is for admins. A receiver gets none of it.
func TestDeliver_LeavesOutWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	w := newWebhookTest(t)
	got := make(chan string, 2)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	t.Cleanup(there.Close)
	hook, _ := w.addWebhook(t, there.URL)
	c := connectors.ConnectorName{Slug: "linear", Name: "Linear"}
	said := &connectors.Upstream{Said: "its own words", Status: 503}
	for _, n := range []store.NewNotice{
		connectors.NeedsAuthNotice(c, connectors.NoticeAccount{}, "The authorization server ended access.", said),
		connectors.DownNotice(c, w.admin.Tenant.CreatedAt, 3, "It does not answer.", said),
	} {
		if err := w.Door().People().AddNotice(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		w.deliver(t, w.newest(t, hook), 0)
		if body := <-got; !strings.Contains(body, n.Title) || strings.Contains(body, "words") {
			t.Errorf("sent: %s", body)
		}
	}
	for _, n := range w.notices(t) {
		if n.Upstream == nil || n.Upstream.Said != said.Said {
			t.Errorf("the notice has %+v", n.Upstream)
		}
	}
	if strings.Contains(w.log.String(), "words") {
		t.Error("the log has them")
	}
}
