package apitools_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
)

// newFilesSource returns a source of a new tenant with a document of one file. answer makes the text of the file.
func newFilesSource(answer func(*http.Request) (string, error)) apitools.Source {
	return apitools.Source{Tenant: connectors.TenantID{UUID: uuid.New()}, Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		text := `{"openapi":"3.1.0","paths":{"/a":{"$ref":"a.yaml"}}}`
		if r.URL.Path == "/a.yaml" {
			var err error
			if text, err = answer(r); err != nil {
				return nil, err
			}
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	})}}
}

const filesAddress = "https://api.example.com/openapi.json"

func TestFetch_GivesBackItsTurnOnce(t *testing.T) {
	t.Parallel()
	const path = "get: {responses: {}}"
	for name, tc := range map[string]struct {
		answer func(context.CancelFunc) (string, error)
		fails  bool
	}{
		"success": {func(context.CancelFunc) (string, error) { return path, nil }, false},
		"error":   {func(context.CancelFunc) (string, error) { return "", errors.New("reset") }, true},
		"no YAML": {func(context.CancelFunc) (string, error) { return "{", nil }, true},
		"cancel":  {func(cancel context.CancelFunc) (string, error) { cancel(); return "", context.Canceled }, true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var source apitools.Source
		source = newFilesSource(func(*http.Request) (string, error) {
			if apitools.HasTurn(source.Tenant) || !apitools.HasBundle(source.Tenant) {
				t.Errorf("%s: during the request, turn %t, bundle %t", name, apitools.HasTurn(source.Tenant), apitools.HasBundle(source.Tenant))
			}
			return tc.answer(cancel)
		})
		if _, err := source.Fetch(ctx, filesAddress, ""); (err != nil) != tc.fails {
			t.Errorf("%s: %v", name, err)
		}
		if apitools.HasTurn(source.Tenant) || apitools.HasBundle(source.Tenant) {
			t.Errorf("%s: turn %t, bundle %t", name, apitools.HasTurn(source.Tenant), apitools.HasBundle(source.Tenant))
		}
		hasTurn := false
		err := apitools.TakeTurn(t.Context(), source.Tenant, func() error { hasTurn = apitools.HasTurn(source.Tenant); return nil })
		if err != nil || !hasTurn {
			t.Errorf("%s: a turn was given back twice, %v", name, err)
		}
		cancel()
	}
}

// A document that waits for a file stays in memory, so that few may.
func TestFetch_BoundsDocumentsThatWaitForFiles(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	refused := func(source apitools.Source) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		next := source.Client.Transport
		source.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/a.yaml" {
				t.Error("a document waits for a file in excess of the bound")
				return nil, stop
			}
			answer, err := next.RoundTrip(r)
			if err == nil {
				answer.Body = closingBody{answer.Body, func() { cancel(stop) }}
			}
			return answer, err
		})}
		if _, err := source.Fetch(ctx, filesAddress, ""); err != stop {
			t.Errorf("in excess of the bound: %v", err)
		}
	}
	depth := 0
	var fetch func() error
	fetch = func() error {
		source := newFilesSource(func(*http.Request) (string, error) {
			if depth++; depth < 4 {
				return "get: {responses: {}}", fetch()
			}
			refused(newFilesSource(nil))
			return "get: {responses: {}}", nil
		})
		_, err := source.Fetch(t.Context(), filesAddress, "")
		return err
	}
	if err := fetch(); err != nil || depth != 4 {
		t.Errorf("%d documents: %v", depth, err)
	}
	var source apitools.Source
	source = newFilesSource(func(*http.Request) (string, error) {
		refused(source)
		return "get: {responses: {}}", nil
	})
	if _, err := source.Fetch(t.Context(), filesAddress, ""); err != nil {
		t.Errorf("one tenant: %v", err)
	}
}
