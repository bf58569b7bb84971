package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/testing/fixture"
)

func TestEmbeddings_SearchesAskTheEndpointOfTheSettings(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 16)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case asked <- r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body):
		default:
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	}))
	t.Cleanup(endpoint.Close)
	h := newAppAt(t, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, func(s *config.Server) {
		s.EmbedURL, s.EmbedModel, s.EmbedKey = endpoint.URL+"/v1", "small", "key"
	})
	st := h.database.Store
	tenant, err := st.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture.World{St: st, Pool: h.database.Pool, Tenant: tenant.ID, Keyring: st.Keyring(), Instance: h.instance}
	agent, c := w.Agent(t, func(a *connectors.Agent) { a.ToolList = connectors.ToolListLean }), w.Connector(t)
	w.SyncedIn(t, tenant.ID, c.ID, "note")
	w.Grant(t, agent.ID, c.ID)
	var running sync.WaitGroup
	running.Go(func() { h.agents.views.Run(t.Context()) })
	t.Cleanup(running.Wait)
	view, err := h.agents.views.LoadUncached(t.Context(), tenant.ID, connectors.Ref(agent.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := view.FindTools(t.Context(), agentview.ToolSearch{Words: "note", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-asked:
		if !strings.HasPrefix(got, "/v1/embeddings Bearer key ") || !strings.Contains(got, `"model":"small"`) {
			t.Errorf("asked %s", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("the endpoint gets no request")
	}
}
