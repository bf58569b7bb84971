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

// forward hands requests on as they came, with the token. Who names this proxy, as Host or as Origin, means the one behind it; whatever
// else stands there is handed on, for Patchbay to judge.
func forward(door patchbay.Door, self string) (http.Handler, error) {
	to, err := url.Parse(door.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of the gateway: %w", err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     door,
		FlushInterval: -1, // an event stream is not held back
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
		// A request that is still being read when the answer begins can cost the answer (golang/go#40747).
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}), nil
}
