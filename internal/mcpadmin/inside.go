package mcpadmin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"patchbay/client"
)

// inside carries requests of package client to the API in this process. Who asks stands in their context: nothing goes over a network, and no
// key is sent.
type inside struct{ api http.Handler }

// newInside makes a client of the API in this process.
func newInside(api http.Handler) (*client.Client, error) {
	return client.New("http://patchbay", "nobody's", client.WithoutWaiting(), client.WithHTTPClient(&http.Client{Transport: inside{api}}))
}

// get reads what no type of package client has room for.
func (h *Handler) get(ctx context.Context, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://patchbay"+path, nil)
	if err != nil {
		return err
	}
	res, err := h.inside.RoundTrip(r)
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
func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	// The router of the outer request has noted there how far it came; the API's begins anew.
	ctx := context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))
	a := &answer{header: http.Header{}}
	i.api.ServeHTTP(a, r.WithContext(ctx))
	return &http.Response{
		Status:     http.StatusText(a.status),
		StatusCode: a.status,
		Header:     a.header,
		Body:       io.NopCloser(&a.body),
		Request:    r,
	}, nil
}

// answer keeps what a handler answers.
type answer struct {
	header http.Header
	status int // 0: not yet
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}
