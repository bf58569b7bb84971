package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxBody        = 1 << 20
	defaultTimeout = 15 * time.Second
	maxRetryAfter  = time.Hour
)

// Client speaks to authorization servers. It is safe for concurrent use.
type Client struct {
	// HTTP sends every request. It must not follow redirects and must check the address of each connection; an error of
	// it with a method Permanent() bool that is true says that its rules forbid the connection.
	HTTP *http.Client
	// CheckURL reports whether a URL may be contacted or shown to a browser. It stands besides this package's own rules (http
	// or https, a host, no userinfo, no fragment). Nil: https only.
	CheckURL func(raw string) (*url.URL, error)
	// ASCIIURL returns a URL with its internationalised host in xn-- form; ok is false if the host is invalid or
	// misleading. Nil: such URLs are refused.
	ASCIIURL func(raw string) (ascii string, ok bool)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Timeout bounds each request; 0: 15 seconds.
	Timeout time.Duration
}

func (c *Client) currentTime() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Client) requestTimeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}

// httpRequest is one request to a remote server.
type httpRequest struct {
	step     Step
	url      string
	form     url.Values  // sent by POST
	document any         // sent by POST, as JSON
	header   http.Header // besides Accept and Content-Type; nil: none
}

// httpResponse is what came back, whole.
type httpResponse struct {
	status     int
	retryAfter time.Duration
	header     http.Header
	body       []byte
}

func (a httpResponse) isOK() bool { return a.status >= 200 && a.status < 300 }

// sendRequest checks the URL, sends one request and reads its answer. A redirect is an answer like any other.
func (c *Client) sendRequest(ctx context.Context, r httpRequest) (httpResponse, *Error) {
	if err := c.checkURL(r.step, "URL", r.url); err != nil {
		return httpResponse{}, err
	}
	req, err := r.buildRequest(ctx)
	if err != nil {
		return httpResponse{}, &Error{Step: r.step, Kind: KindProtocol, Detail: "the request cannot be encoded"}
	}
	return c.sendBuilt(ctx, r.step, req)
}

// sendBuilt sends one request with a checked URL.
func (c *Client) sendBuilt(ctx context.Context, step Step, req *http.Request) (httpResponse, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.requestTimeout())
	defer cancel()
	var sent atomic.Bool
	req = req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// net/http tries again by itself where a kept connection turns out closed before anything was written to it.
		GetConn:      func(string) { sent.Store(false) },
		WroteHeaders: func() { sent.Store(true) },
	}))
	req.Header.Set("Accept", "application/json")
	effect := req.Method == http.MethodPost
	// The handed client does not follow redirects and has no cookies; neither may ever come in by mistake.
	client := *c.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	resp, err := client.Do(req)
	if err != nil {
		return httpResponse{}, transportFailure(ctx, step, err, sent.Load(), effect)
	}
	defer func() { _ = resp.Body.Close() }()
	a := httpResponse{status: resp.StatusCode, header: resp.Header, retryAfter: retryAfter(resp.Header.Get("Retry-After"), c.currentTime())}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		failure := transportFailure(ctx, step, err, true, effect)
		failure.HTTPStatus = a.status
		return a, failure
	}
	if len(a.body) > maxBody {
		return a, &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, Detail: "answered with more than 1 MiB"}
	}
	return a, nil
}

func (r httpRequest) buildRequest(ctx context.Context) (*http.Request, error) {
	method, contentType := http.MethodGet, ""
	var body io.Reader
	switch {
	case r.form != nil:
		method, contentType, body = http.MethodPost, "application/x-www-form-urlencoded", strings.NewReader(r.form.Encode())
	case r.document != nil:
		text, err := json.Marshal(r.document)
		if err != nil {
			return nil, fmt.Errorf("write the document: %w", err)
		}
		method, contentType, body = http.MethodPost, "application/json", bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url, body)
	if err != nil {
		return nil, errors.New("not a request") // the cause would quote the URL
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// toError types an answer that is no success and says nothing more.
func (a httpResponse) toError(step Step) *Error {
	e := &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, RetryAfter: a.retryAfter}
	e.keepResponse(a)
	e.Detail = fmt.Sprintf("answered HTTP %d", a.status)
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable:
		e.Kind = KindTemporary
	case a.status >= 500, a.status == http.StatusRequestTimeout:
		e.Kind = KindUnknownOutcome
	case a.status >= 300 && a.status < 400:
		e.Detail = "answered with a redirect, which is not followed"
	case isHTML(a.body):
		e.Detail += " and HTML"
	}
	return e
}

// maxKeptResponse bounds the response of a failure that is kept, in bytes.
const maxKeptResponse = 4 << 10

func (e *Error) keepResponse(a httpResponse) {
	e.Response = Secret(a.body[:min(len(a.body), maxKeptResponse)])
	e.ResponseCut = len(a.body) > maxKeptResponse
}

// isTemporary reports whether the same question may be answered later.
func (a httpResponse) isTemporary() bool {
	return a.status >= 500 || a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout
}

func isHTML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, "\ufeff \t\r\n"), []byte("<"))
}

// retryAfter reads seconds or a date (RFC 9110 §10.2.3); at most an hour, 0 where there is none.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
		return min(max(time.Duration(min(seconds, 1e6))*time.Second, 0), maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
