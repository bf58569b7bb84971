package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	maxSessionIDLength = 128
	// drainTime is how long an answered stream may take to end. Its connection serves the next request then.
	drainTime  = 50 * time.Millisecond
	drainBytes = 4 << 10
)

// httpCarrier is Streamable HTTP towards one server: each message is a POST, and its answer holds the reply.
type httpCarrier struct {
	http   *http.Client
	header http.Header
	inbox  inbox
	wait   func(context.Context, time.Duration) error

	url     atomic.Pointer[url.URL] // moves with redirects
	lingers atomic.Bool             // the server keeps streams open after the reply
	lost    atomic.Bool             // the server does not know the session any more
	session string                  // Mcp-Session-Id, set by the opening; empty: none
	version atomic.Value            // MCP-Protocol-Version, a string, set by agreed while the server may be asking already
}

// send posts a message and reads what comes back.
func (c *httpCarrier) send(ctx context.Context, m outgoing) (incoming, *Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.id == 0 {
		return incoming{}, c.notify(ctx, m, cancel)
	}
	return c.call(ctx, m, cancel)
}

func (c *httpCarrier) call(ctx context.Context, m outgoing, cancel context.CancelFunc) (incoming, *Error) {
	resp, err := c.post(ctx, m)
	if err != nil {
		return incoming{}, explain(ctx, m.phase, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return incoming{}, c.refusal(m, resp)
	}
	if m.method == initialize {
		if c.session, err = sessionID(resp.Header); err != nil {
			return incoming{}, explain(ctx, m.phase, err)
		}
	}
	a := newAnswer(resp, m, c.inbox)
	reply, err := a.read()
	if err != nil && c.resumes(a.mark) {
		return c.resume(ctx, m, a.mark, err)
	}
	if err != nil {
		failure := explain(ctx, m.phase, err)
		failure.HTTPStatus = resp.StatusCode
		return incoming{}, failure
	}
	c.drain(a.body, cancel)
	return incoming{reply: reply, status: resp.StatusCode}, nil
}

// notify posts a message that wants no reply. Any answer is fine.
func (c *httpCarrier) notify(ctx context.Context, m outgoing, cancel context.CancelFunc) *Error {
	resp, err := c.post(ctx, m)
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return nil
	}
	if err != nil {
		return explain(ctx, m.phase, err)
	}
	c.drain(resp.Body, cancel)
	_ = resp.Body.Close()
	return nil
}

// agreed is the version that every request from now on names.
func (c *httpCarrier) agreed(version string) { c.version.Store(version) }

// speaks is the version that was agreed; empty: none yet.
func (c *httpCarrier) speaks() string {
	version, _ := c.version.Load().(string)
	return version
}

// close deletes the session.
func (c *httpCarrier) close(ctx context.Context) {
	if c.session == "" || c.lost.Load() {
		return
	}
	resp, err := c.do(ctx, http.MethodDelete, outgoing{})
	if err == nil {
		_ = resp.Body.Close()
	}
}

// post sends a message and follows the redirects that may be followed.
func (c *httpCarrier) post(ctx context.Context, m outgoing) (*http.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := c.do(ctx, http.MethodPost, m)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		_ = resp.Body.Close()
		to, err := redirected(c.url.Load(), resp, hops)
		if err != nil {
			return nil, err
		}
		c.url.Store(to)
	}
}

func (c *httpCarrier) do(ctx context.Context, method string, m outgoing) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url.Load().String(), bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	if m.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if version := c.speaks(); version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
	}
	if c.session != "" && m.method != initialize {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for name, values := range m.header {
		req.Header[name] = values
	}
	if m.again {
		// Not sent, but a word to net/http: where the server closes a kept connection just now, the request goes out on another.
		req.Header["Idempotency-Key"] = nil
	}
	resp, err := c.http.Do(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the bare connection, and reading that would not end with ctx.
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	return resp, err
}

// drain reads a body's rest, where it comes at once, so that the connection can be used again. cancel ends the request.
func (c *httpCarrier) drain(body io.Reader, cancel context.CancelFunc) {
	if c.lingers.Load() {
		return
	}
	timer := time.AfterFunc(drainTime, cancel)
	_, err := io.CopyN(io.Discard, body, drainBytes)
	if !timer.Stop() || err == nil {
		c.lingers.Store(true)
	}
}

var errSessionID = errors.New("session id")

// sessionID reads the id that a server gives to a session: visible ASCII, because it goes back as a header.
func sessionID(h http.Header) (string, error) {
	id := h.Get("Mcp-Session-Id")
	if len(id) > maxSessionIDLength {
		return "", errSessionID
	}
	for _, c := range []byte(id) {
		if c < '!' || c > '~' {
			return "", errSessionID
		}
	}
	return id, nil
}
