package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"patchbay/internal/config"
)

// maxReadiness bounds what is read of /readyz, in bytes.
const maxReadiness = 1 << 20

// loops asks the running server for background loops that have panicked lately. Where none can be reached from this machine, it says nothing.
func (e *examination) loops(ctx context.Context, server config.Server, roots *x509.CertPool) {
	const what = "loops"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // as base URL says
	}
	base := server.BaseURL(addr)
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	res, err := askOver(ctx, base.JoinPath("readyz").String(), net.JoinHostPort(base.Hostname(), port), roots)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }()
	var state readiness
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, maxReadiness)).Decode(&state) != nil {
		return
	}
	for _, l := range state.Loops {
		last := l.Last.UTC().Format(time.RFC3339)
		if l.Waiting {
			e.problem(what, "%q panicked %d times, last at %s, and waits to be started again. The server's log has the stack: report it.", l.Name, l.Panics, last)
		} else {
			e.note(what, "%q panicked %d times, last at %s, and runs again. The server's log has the stack: report it.", l.Name, l.Panics, last)
		}
	}
	if len(state.Loops) == 0 && state.Status != "" {
		e.ok(what, "no background loop has panicked lately")
	}
}
