package mcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"patchbay/internal/safe"
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
	trace  *Trace // nil: nobody looks
	era    Era
	room   *Room                                        // nil: for all
	span   func(context.Context) (parent, state string) // nil: there are no traces

	usual   usual
	url     atomic.Pointer[url.URL] // moves with redirects
	lingers atomic.Bool             // the server keeps streams open after the reply
	lost    atomic.Bool             // the server does not know the session any more
	session string                  // Mcp-Session-Id, set by the opening; empty: none
	version atomic.Value            // MCP-Protocol-Version, a string, set by agreed while the server may be asking already
}

// send posts a message and reads what comes back.
func (c *httpCarrier) send(ctx context.Context, m outgoing) (incoming, *Error) {
	if m.id == 0 {
		return incoming{}, c.notify(ctx, m)
	}
	return c.call(ctx, m)
}

func (c *httpCarrier) call(ctx context.Context, m outgoing) (incoming, *Error) {
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
	a := newAnswer(resp, m, c.inbox, c.claim(ctx, m))
	defer a.release()
	reply, err := a.read()
	if err != nil && c.resumes(a.mark) {
		a.claim.give() // what was read is of no use, and the rest may have to wait for room itself
		return c.resume(ctx, m, a.mark, err)
	}
	if err != nil {
		failure := explain(ctx, m.phase, err)
		failure.HTTPStatus = resp.StatusCode
		return incoming{}, failure
	}
	if !a.ended {
		a.ended = a.finish(resp.Body)
	}
	if !a.ended {
		c.drain(a.body, resp.Body)
	}
	return incoming{reply: reply, status: resp.StatusCode, lease: a.lease}, nil
}

// notify posts a message that wants no reply. Any answer is fine.
func (c *httpCarrier) notify(ctx context.Context, m outgoing) *Error {
	resp, err := c.post(ctx, m)
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return nil
	}
	if err != nil {
		return explain(ctx, m.phase, err)
	}
	if resp.Body != http.NoBody {
		c.drain(resp.Body, resp.Body)
		_ = resp.Body.Close()
	}
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
	resp, err := c.do(ctx, http.MethodDelete, outgoing{phase: PhaseClose})
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
	req := c.request(ctx, method, m)
	seen := c.trace.begin(method, m, c.era)
	resp, err := c.roundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the bare connection, and reading that would not end with ctx.
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	seen.answered(resp, err)
	return resp, err
}

// request writes a message down for net/http.
func (c *httpCarrier) request(ctx context.Context, method string, m outgoing) *http.Request {
	to := c.url.Load()
	req := http.Request{Method: method, URL: to, Host: to.Host, Header: c.headers(ctx, m), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if body := m.body; len(body) > 0 {
		req.ContentLength = int64(len(body))
		// net/http knows this kind of body: it sends headers and body in one piece.
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(ctx)
}

// roundTrip sends a request once. What an http.Client does besides (redirects, cookies, a user in the URL) has no place here or is done
// by the caller, but a client may have a time limit.
func (c *httpCarrier) roundTrip(req *http.Request) (*http.Response, error) {
	if c.http.Transport == nil || c.http.Timeout > 0 || c.http.Jar != nil || req.URL.User != nil {
		req.Header = req.Header.Clone() // a client writes cookies into it
		return c.http.Do(req)
	}
	resp, err := c.http.Transport.RoundTrip(req)
	if broken, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(broken.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	return resp, err
}

// drain reads a body's rest, where it comes at once, so that the connection can be used again. Closing the body ends the request.
func (c *httpCarrier) drain(body io.Reader, whole io.Closer) {
	if c.lingers.Load() {
		return
	}
	timer := time.AfterFunc(drainTime, func() {
		defer safe.Recover(safe.Timer)
		_ = whole.Close()
	})
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
