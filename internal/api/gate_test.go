package api_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"patchbay/internal/connectors"
)

// slowReader reads no response before it may.
type slowReader struct {
	*httptest.ResponseRecorder
	asked, let chan struct{}
}

func (c slowReader) Write(p []byte) (int, error) {
	c.asked <- struct{}{}
	<-c.let
	return c.ResponseRecorder.Write(p)
}

func TestResponseGate_BoundsConcurrentResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	path := "/api/v1/agents/" + agent.Slug + "/tools"
	asked, let := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	for range 4 {
		slow.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+viewer)
			rec := slowReader{httptest.NewRecorder(), asked, let}
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
	w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug, nil).want(http.StatusOK) // other requests go on
	close(let)
	slow.Wait()
	w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
}
