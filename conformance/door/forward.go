package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"

	"patchbay/conformance/patchbay"
)

// newForwarder returns a proxy that adds the token, and exposed names unless names is nil. It replaces its own address in
// Host and Origin. Other values are passed on, for Patchbay to judge.
func newForwarder(endpoint patchbay.Endpoint, names *exposedNames, self string) (http.Handler, error) {
	to, err := url.Parse(endpoint.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of the gateway: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     endpoint,
		FlushInterval: -1, // no buffering of event streams
		Rewrite: func(r *httputil.ProxyRequest) {
			target := *to
			r.Out.URL = &target
			if r.In.Host == self {
				r.Out.Host = to.Host
			}
			if r.In.Header.Get("Origin") == "http://"+self {
				r.Out.Header.Set("Origin", to.Scheme+"://"+to.Host)
			}
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A response before the end of the request body may be lost (golang/go#40747).
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if names != nil {
			body = names.exposeRequest(body, r.Header)
			r.ContentLength = int64(len(body))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}), nil
}
