package auditstreams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
)

// maxDrained is what is read of a response's body, so that the connection can be used again.
const maxDrained = 4 << 10

// sendHTTPS posts a batch. The body of the response is thrown away.
func (s *Service) sendHTTPS(ctx context.Context, tenant connectors.TenantID, stream connectors.AuditStream, value secret.Text, b batch) attemptResult {
	if _, err := s.o.Egress.CheckURL(stream.URL); err != nil {
		return attemptResult{sentence: egressSentence(err), refused: true}
	}
	body, contentType := encodeBody(stream.Format, b)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, stream.URL, bytes.NewReader(body))
	if err != nil {
		return attemptResult{sentence: "Patchbay can't send to this address.", refused: true}
	}
	r.Header.Set("Content-Type", contentType)
	if stream.Header != "" && !value.Empty() {
		r.Header.Set(stream.Header, value.Reveal())
	}
	response, err := s.o.Egress.ClientFor(tenant.String()).Do(r)
	if err != nil {
		_, blocked := errors.AsType[*safehttp.BlockedError](err)
		return attemptResult{sentence: safehttp.Explain(ctx, err, s.o.Timeout), refused: blocked}
	}
	_, _ = io.CopyN(io.Discard, response.Body, maxDrained)
	_ = response.Body.Close()
	return newHTTPResult(response.StatusCode, parseRetryAfter(response.Header.Get("Retry-After"), s.o.Now()))
}

// encodeBody returns the body of a batch and its media type.
func encodeBody(format connectors.StreamFormat, b batch) (body []byte, contentType string) {
	if format == connectors.StreamJSON {
		return append(append([]byte{'['}, bytes.Join(b.encoded, []byte{','})...), ']'), "application/json"
	}
	return append(bytes.Join(b.encoded, []byte{'\n'}), '\n'), "application/x-ndjson"
}

func newHTTPResult(status int, retryAfter time.Duration) attemptResult {
	r := attemptResult{status: status, retryAfter: retryAfter}
	switch {
	case status >= 200 && status <= 299:
		return r
	case status >= 300 && status <= 399:
		r.sentence, r.refused = fmt.Sprintf("It answered %d, a redirect that Patchbay doesn't follow. Enter the URL it redirects to.", status), true
	case http.StatusText(status) != "":
		r.sentence = fmt.Sprintf("It answered %d %s.", status, http.StatusText(status))
	default:
		r.sentence = fmt.Sprintf("It answered %d.", status)
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		r.refused = status < 500
	}
	return r
}

// parseRetryAfter parses the header (RFC 9110 section 10.2.3) as seconds or a time; 0: absent or malformed.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(0, seconds), 3600)) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

// egressSentence explains a refused address.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "Patchbay can't send to this address."
}

// hostName returns the host of a URL without its port.
func hostName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
