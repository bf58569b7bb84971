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
	return serveOn(ctx, &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer of-the-upstream")
		},
	}, out)
}
