package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// serveProxy hands requests on and adds one header. It may keep as many connections as there are callers.
func serveProxy(ctx context.Context, to string, out io.Writer) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConns: 1000, MaxIdleConnsPerHost: 1000, DisableCompression: true}
	return serveOn(ctx, duplex(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer of-the-upstream")
		},
	}), out)
}

// duplex lets the proxy read a request while it answers. net/http closes the request's body else as soon as the reply begins, and where
// the proxy's transport has yet to see that nothing follows, it cuts the connection to the server in the middle of the reply
// (golang/go#40747): replies were lost, and new connections counted as the proxy's work.
func duplex(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		next.ServeHTTP(w, r)
	})
}
