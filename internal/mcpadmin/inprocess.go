package mcpadmin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"patchbay/client"
	"patchbay/internal/inprocess"
)

// inProcessTransport sends requests of package client to the API in this process. The actor is in the context:
// no key is sent.
type inProcessTransport struct{ api http.Handler }

func newInProcessClient(api http.Handler) (*client.Client, error) {
	return client.New("http://patchbay", "nobody's", client.WithoutWaiting(), client.WithHTTPClient(&http.Client{Transport: inProcessTransport{api}}))
}

// getJSON decodes a response that package client has no type for.
func (h *Handler) getJSON(ctx context.Context, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://patchbay"+path, nil)
	if err != nil {
		return err
	}
	res, err := h.inProcess.RoundTrip(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		p := &client.Problem{}
		err := json.NewDecoder(res.Body).Decode(p)
		p.Status = res.StatusCode
		return errors.Join(err, p)
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// RoundTrip implements http.RoundTripper.
func (i inProcessTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	// The outer router's state is in the context; the API's router starts anew.
	ctx := context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))
	a := &inprocess.Recorder{}
	i.api.ServeHTTP(a, r.WithContext(ctx))
	return &http.Response{
		Status:     http.StatusText(a.Status),
		StatusCode: a.Status,
		Header:     a.Header(),
		Body:       io.NopCloser(&a.Body),
		Request:    r,
	}, nil
}
