package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"patchbay/internal/config"
	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/fasthttp/tcp"
	"patchbay/internal/framing"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
)

// httpServer is a server of the public listener, with the methods of [http.Server].
type httpServer interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// publicOptions configure the server of the public listener. All are required.
type publicOptions struct {
	mode         config.HTTPMode
	handler      http.Handler
	isAgentsPath func(path string) bool // reports whether a path is the gateway's, which package httpserver serves in mode fast
	log          *slog.Logger
}

// newPublicServer returns the server of the public listener in the mode of PATCHBAY_HTTP.
func newPublicServer(o publicOptions) httpServer {
	standard := newStandardServer(o.handler, o.log)
	if o.mode == config.HTTPStandard {
		return standardServer{standard}
	}
	return fastServer{httpserver.New(httpserver.Options{
		Handler: o.handler, Accepts: o.isAgentsPath, Fallback: standard,
		WrapListener:      func(l net.Listener) net.Listener { return framing.Listen(serve.Connections(l)) },
		ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, StallTimeout: stallTimeout, Log: o.log,
	})}
}

// fastServer reads and writes connections by package tcp.
type fastServer struct{ *httpserver.Server }

// Serve serves the connections of l.
func (s fastServer) Serve(l net.Listener) error { return s.Server.Serve(tcp.WrapListener(l)) }

// standardServer is net/http's server on connections of package net.
type standardServer struct{ *http.Server }

// Serve serves the connections of l.
func (s standardServer) Serve(l net.Listener) error { return s.Server.Serve(framing.Listen(l)) }

// newStandardServer returns net/http's server with the limits of the public listener, which has to be wrapped
// by [framing.Listen].
func newStandardServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           withBodyDeadline(framing.Refuse(handler)),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext:       connContext,
		// framing.Refuse has to get each request, "OPTIONS *" among them.
		DisableGeneralOptionsHandler: true,
	}
}

// connContext stores the connection in the context of its requests. net/http calls it in the goroutine that
// accepts all connections, and panics for a nil context.
func connContext(of context.Context, c net.Conn) (ctx context.Context) {
	defer safe.Recover(safe.Connection)
	defer func() {
		if ctx == nil { // after a panic
			ctx = of
		}
	}()
	in, c := framing.ConnContext(of, c)
	return serve.ConnContext(in, c)
}
