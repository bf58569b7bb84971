package api_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"patchbay/internal/connectors"
)

// slowCaller takes nothing of its answer before it is let.
type slowCaller struct {
	*httptest.ResponseRecorder
	asked, let chan struct{}
}

func (c slowCaller) Write(p []byte) (int, error) {
	c.asked <- struct{}{}
	<-c.let
	return c.ResponseRecorder.Write(p)
}

func TestOnlyAFewAnswersOfAllAnAgentsToolsAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.key(t, connectors.RoleViewer), w.Agent(t)
	path := "/api/v1/agents/" + agent.Slug + "/tools"
	asked, let := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	for range 4 {
		slow.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+viewer)
			rec := slowCaller{httptest.NewRecorder(), asked, let}
			if w.handler.ServeHTTP(rec, r); rec.Code != http.StatusOK {
				t.Errorf("a slow caller gets %d", rec.Code)
			}
		})
	}
	for range 4 {
		<-asked
	}
	refused := w.call(t, viewer, http.MethodGet, path, nil)
	refused.problem(http.StatusServiceUnavailable, "unavailable")
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug, nil).want(http.StatusOK) // others go on
	close(let)
	slow.Wait()
	w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
}
