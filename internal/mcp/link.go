package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/mcp/wire"
)

const (
	maxSessionIDLength = 128
	closeTimeout       = 2 * time.Second
	courtesyTimeout    = time.Second
	// drainTime is how long an answered stream may take to end. Its connection serves the next request then.
	drainTime  = 50 * time.Millisecond
	drainBytes = 4 << 10
)

// link is Streamable HTTP towards one server: each message is a POST.
type link struct {
	http    *http.Client
	url     *url.URL // moves with redirects
	header  http.Header
	timeout time.Duration // of one request with its answer

	session string // Mcp-Session-Id; empty: none
	version string // MCP-Protocol-Version; empty: not agreed yet
	lingers bool   // the server keeps streams open after the reply
}

// call sends a request once and returns the reply to it.
func (l *link) call(ctx context.Context, r request, id int) (*wire.Reply, *Error) {
	timed, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	resp, err := l.post(timed, wire.Request(id, r.method, r.params))
	if err != nil {
		return nil, explain(timed, r.phase, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return nil, l.refusal(r.phase, resp, id)
	}
	if r.method == handshakeEra.opening {
		if l.session, err = sessionID(resp.Header); err != nil {
			return nil, explain(timed, r.phase, err)
		}
	}
	a := newAnswer(resp, id, r.method == "tools/list")
	reply, err := a.read()
	if err != nil {
		failure := explain(timed, r.phase, err)
		failure.HTTPStatus = resp.StatusCode
		return nil, failure
	}
	l.drain(a.body, cancel)
	return reply, nil
}

// notify sends a message that wants no reply. Any answer is fine.
func (l *link) notify(ctx context.Context, phase Phase, message []byte) *Error {
	timed, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	resp, err := l.post(timed, message)
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return nil
	}
	if err != nil {
		return explain(timed, phase, err)
	}
	l.drain(resp.Body, cancel)
	_ = resp.Body.Close()
	return nil
}

// end deletes the session.
func (l *link) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(closeTimeout, l.timeout))
	defer cancel()
	resp, err := l.send(ctx, http.MethodDelete, nil)
	if err == nil {
		_ = resp.Body.Close()
	}
	l.session = ""
}

// courtesy does something that the server may like and that nothing depends on, within a second.
func (l *link) courtesy(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, courtesyTimeout)
	defer cancel()
	do(ctx)
}

// post sends a message and follows the redirects that may be followed.
func (l *link) post(ctx context.Context, message []byte) (*http.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := l.send(ctx, http.MethodPost, message)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		_ = resp.Body.Close()
		if l.url, err = redirected(l.url, resp, hops); err != nil {
			return nil, err
		}
	}
}

func (l *link) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = l.header.Clone()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if l.version != "" {
		req.Header.Set("Mcp-Protocol-Version", l.version)
	}
	if l.session != "" {
		req.Header.Set("Mcp-Session-Id", l.session)
	}
	return l.http.Do(req)
}

// drain reads a body's rest, where it comes at once, so that the connection can be used again. cancel ends the request.
func (l *link) drain(body io.Reader, cancel context.CancelFunc) {
	if l.lingers {
		return
	}
	timer := time.AfterFunc(drainTime, cancel)
	_, err := io.CopyN(io.Discard, body, drainBytes)
	if !timer.Stop() || err == nil {
		l.lingers = true
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
