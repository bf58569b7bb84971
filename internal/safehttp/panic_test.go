package safehttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
)

// The check of an address panics: net/http and package net dial in their own goroutines.
func TestDial_PanicIsAnError(t *testing.T) {
	before, want := safe.Count(safe.Upstream), uint64(0)
	for _, scheme := range []string{"http", "https"} {
		for _, addresses := range []string{"1.1.1.1", "1.1.1.1,2606:4700::1111"} {
			for _, standard := range []bool{false, true} {
				t.Run(fmt.Sprint(scheme, " ", addresses, ", standard ", standard), func(t *testing.T) {
					allow, err := safehttp.ParseAllow("example.com:80")
					if err != nil {
						t.Fatal(err)
					}
					p := safehttp.New(safehttp.Options{
						Mode: safehttp.Public, Allow: allow, Standard: standard, Resolver: newResolver(t, func(string) string { return addresses }),
					})
					var panics atomic.Bool
					panics.Store(true)
					p.EndConnections(func(netip.AddrPort) error {
						if panics.Load() {
							panic("of a test")
						}
						return errReached
					})
					if err := sendUnchecked(t, p, scheme+"://example.com/"); !safe.IsPanic(err) {
						t.Errorf("error = %v", err)
					}
					panics.Store(false)
					if err := sendUnchecked(t, p, scheme+"://example.com/"); !errors.Is(err, errReached) {
						t.Errorf("the next request: %v", err)
					}
				})
				want++
			}
		}
	}
	if n := safe.Count(safe.Upstream) - before; n < want {
		t.Errorf("%d panics are counted, at least %d happened", n, want)
	}
}

// panickingBody panics in Read.
type panickingBody struct{ closed atomic.Bool }

func (*panickingBody) Read([]byte) (int, error) { panic("of a test") }
func (b *panickingBody) Close() error           { b.closed.Store(true); return nil }

// The request's body panics: package httpclient reads it in the caller's goroutine.
func TestRequest_PanicIsAnError(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") }))
	t.Cleanup(up.Close)
	allow, err := safehttp.ParseAllow(strings.TrimPrefix(up.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
	body := &panickingBody{}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, up.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = 10
	before := safe.Count(safe.Upstream)
	resp, err := p.Client().Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !safe.IsPanic(err) || !body.closed.Load() || safe.Count(safe.Upstream) == before {
		t.Errorf("error = %v, the body is closed: %t", err, body.closed.Load())
	}
	if err := sendUnchecked(t, p, up.URL); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

type panickingTransport struct{}

func (panickingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &panickingBody{}, Request: r}, nil
}

// The response panics in the goroutine of a library that reads it.
func TestBoundedBody_PanicIsAnError(t *testing.T) {
	t.Parallel()
	client := safehttp.Bounded(&http.Client{Transport: panickingTransport{}}, 100, 0)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if n, err := resp.Body.Read(make([]byte, 10)); n != 0 || !safe.IsPanic(err) {
		t.Errorf("%d bytes, error = %v", n, err)
	}
}
