package safehttp

import (
	"net/http"
	"strconv"

	"patchbay/internal/tracing"
)

// sendTraced sends a request in a span that ends with the response's head. The span has host and port of the
// URL only: path and query may contain a key. The request gets no trace headers here: its caller decides on
// them.
func (t *roundTripper) sendTraced(tenant string, r *http.Request) (*http.Response, error) {
	ctx, span := tracing.Client(r.Context(), r.Method)
	if !span.On() {
		return t.next.RoundTripPartition(tenant, r)
	}
	defer span.End()
	span.Text(tracing.Method, r.Method)
	span.Text(tracing.Scheme, r.URL.Scheme)
	span.Text(tracing.Address, r.URL.Hostname())
	if port, ok := parsePort(r.URL); ok {
		span.Number(tracing.Port, int(port))
	}
	resp, err := t.next.RoundTripPartition(tenant, r.WithContext(ctx))
	if err != nil {
		span.Fail("no answer")
		return nil, err
	}
	span.Number(tracing.Status, resp.StatusCode)
	if resp.StatusCode >= http.StatusBadRequest {
		span.Fail(strconv.Itoa(resp.StatusCode))
	}
	return resp, nil
}
