package doctor

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/telemetry"
)

// maxReadiness bounds the response of /readyz, in bytes.
const maxReadiness = 1 << 20

// checkLoops asks the running server for background loops that panicked recently. It prints nothing if none is
// reachable.
func (r *report) checkLoops(ctx context.Context, server config.Server, roots *x509.CertPool) {
	const what = "loops"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // checkBaseURL reports it
	}
	base := server.BaseURL(addr)
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	res, err := r.getThroughAddress(ctx, base.JoinPath("readyz").String(), net.JoinHostPort(base.Hostname(), port), roots)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }()
	var state telemetry.Readiness
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, maxReadiness)).Decode(&state) != nil {
		return
	}
	for _, l := range state.Loops {
		last := l.Last.UTC().Format(time.RFC3339)
		if l.Waiting {
			r.reportProblem(what, "%q panicked %d times, last at %s, and is waiting to restart. The server's log has the stack: please report it.", l.Name, l.Panics, last)
		} else {
			r.reportNote(what, "%q panicked %d times, last at %s, and is running again. The server's log has the stack: please report it.", l.Name, l.Panics, last)
		}
	}
	if len(state.Loops) == 0 && state.Status != "" {
		r.reportOK(what, "no recent panics in background loops")
	}
}
