package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// serveProxy runs a reverse proxy that adds one header and keeps as many connections as there are callers.
func serveProxy(ctx context.Context, to string, out io.Writer) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConns: 1000, MaxIdleConnsPerHost: 1000, DisableCompression: true}
	return serveOn(ctx, withFullDuplex(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer of-the-upstream")
		},
	}), out)
}

// withFullDuplex lets the proxy read a request while it responds. Otherwise net/http closes the request body
// with the first response byte. The proxy's transport may then abort its upstream connection in mid-reply
// (golang/go#40747). Replies were lost, and reconnects counted as the proxy's work.
func withFullDuplex(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		next.ServeHTTP(w, r)
	})
}
