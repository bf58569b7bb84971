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
	// drainTimeout bounds the wait for the end of a stream after its reply. Its connection can then be reused.
	drainTimeout = 50 * time.Millisecond
	drainBytes   = 4 << 10
)

// httpTransport is Streamable HTTP: each message is a POST, and its response holds the reply.
type httpTransport struct {
	client       *http.Client
	header       http.Header
	isAnswering  func(context.Context) bool // asks the server for a sign of life; nil: silent streams stay open
	onMessage    messageHandler
	wait         func(context.Context, time.Duration) error
	trace        *Trace // nil: not recorded
	era          Era
	limits       transportLimits
	memory       *MemoryLimit                                 // nil: unlimited
	traceContext func(context.Context) (parent, state string) // nil: no trace context

	headerCache      headerCache
	url              atomic.Pointer[url.URL] // changes with redirects
	keepsStreamsOpen atomic.Bool             // streams stay open after the reply
	sessionLost      atomic.Bool             // the server no longer knows the session
	sessionID        string                  // set by initialize; empty: none
	keptUntil        atomic.Int64            // Unix time in nanoseconds until which close leaves the session to the server; 0: never
	version          atomic.Value            // a string; atomic, because server requests may run during setVersion
}

func (c *httpTransport) send(ctx context.Context, m outgoingMessage) (receivedReply, *Error) {
	if m.id == 0 {
		return receivedReply{}, c.sendNotification(ctx, m)
	}
	return c.sendRequest(ctx, m)
}

func (c *httpTransport) sendRequest(ctx context.Context, m outgoingMessage) (receivedReply, *Error) {
	if m.method != methodListen {
		return c.sendWatched(ctx, m, nil)
	}
	watch, streamCtx := c.watchSilence(ctx)
	defer watch.cancelStream()
	in, err := c.sendWatched(streamCtx, m, watch)
	if err != nil && ctx.Err() == nil && watch.isSilent() {
		err = newSilenceError()
	}
	return in, err
}

// sendWatched sends a request. A watch bounds the silence of its response; nil: none.
func (c *httpTransport) sendWatched(ctx context.Context, m outgoingMessage, watch *silenceWatch) (receivedReply, *Error) {
	resp, err := c.postMessage(ctx, m)
	if err != nil {
		return receivedReply{}, classifyError(ctx, m.phase, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return receivedReply{}, c.readErrorResponse(m, resp)
	}
	if m.method == methodInitialize {
		if c.sessionID, err = readSessionID(resp.Header); err != nil {
			return receivedReply{}, classifyError(ctx, m.phase, err)
		}
	}
	if watch != nil {
		resp.Body = watchedBody{watch.watchBody(resp.Body), resp.Body}
	}
	a := newResponseReader(resp, m, c.onMessage, c.newReservation(ctx, m), c.limits)
	defer a.release()
	reply, err := a.readReply()
	if err != nil && c.canResume(a.position) {
		a.reservation.release() // the resumed response reserves its own memory
		return c.resumeReply(ctx, m, a.position, err)
	}
	if err != nil {
		failure := classifyError(ctx, m.phase, err)
		failure.HTTPStatus, failure.remote = resp.StatusCode, a.remoteText(resp.Body, err)
		return receivedReply{}, failure
	}
	if !a.atEOF {
		a.atEOF = a.drainReady(resp.Body)
	}
	if !a.atEOF {
		c.drainBody(a.body, resp.Body)
	}
	return receivedReply{reply: reply, status: resp.StatusCode, lease: a.lease}, nil
}

// sendNotification posts a message without a reply. Any response is accepted.
func (c *httpTransport) sendNotification(ctx context.Context, m outgoingMessage) *Error {
	resp, err := c.postMessage(ctx, m)
	if _, redirected := errors.AsType[*redirectError](err); redirected {
		return nil
	}
	if err != nil {
		return classifyError(ctx, m.phase, err)
	}
	if resp.Body != http.NoBody {
		c.drainBody(resp.Body, resp.Body)
		_ = resp.Body.Close()
	}
	return nil
}

func (c *httpTransport) setVersion(version string) { c.version.Store(version) }

// agreedVersion returns the negotiated version; empty: none yet.
func (c *httpTransport) agreedVersion() string {
	version, _ := c.version.Load().(string)
	return version
}

func (c *httpTransport) close(ctx context.Context) {
	if c.sessionID == "" || c.sessionLost.Load() || time.Now().UnixNano() < c.keptUntil.Load() {
		return
	}
	resp, err := c.doRequest(ctx, http.MethodDelete, outgoingMessage{phase: PhaseClose})
	if err == nil {
		_ = resp.Body.Close()
	}
}

// postMessage posts a message and follows allowed redirects.
func (c *httpTransport) postMessage(ctx context.Context, m outgoingMessage) (*http.Response, error) {
	for hops := 0; ; hops++ {
		resp, err := c.doRequest(ctx, http.MethodPost, m)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		_ = resp.Body.Close()
		to, err := redirectTarget(c.url.Load(), resp, hops, c.header)
		if err != nil {
			return nil, err
		}
		c.url.Store(to)
	}
}

func (c *httpTransport) doRequest(ctx context.Context, method string, m outgoingMessage) (*http.Response, error) {
	req := c.newRequest(ctx, method, m)
	exchange := c.trace.beginExchange(method, m, c.era)
	resp, err := c.roundTrip(req)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the bare connection; reading it would not end with ctx.
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	exchange.recordResponse(resp, err)
	return resp, err
}

func (c *httpTransport) newRequest(ctx context.Context, method string, m outgoingMessage) *http.Request {
	to := c.url.Load()
	req := http.Request{Method: method, URL: to, Host: to.Host, Header: c.buildHeader(ctx, m), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if body := m.body; len(body) > 0 {
		req.ContentLength = int64(len(body))
		// net/http sends headers and this kind of body in one piece.
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(ctx)
}

// roundTrip sends a request once. The redirects, cookies and user info of http.Client are not used here, unless
// the client has a timeout or a cookie jar.
func (c *httpTransport) roundTrip(req *http.Request) (*http.Response, error) {
	if c.client.Transport == nil || c.client.Timeout > 0 || c.client.Jar != nil || req.URL.User != nil {
		req.Header = req.Header.Clone() // the client writes cookies into it
		return c.client.Do(req)
	}
	resp, err := c.client.Transport.RoundTrip(req)
	if broken, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(broken.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	return resp, err
}

// drainBody reads the rest of a body, if it arrives at once, so that the connection can be reused. Closing the
// body cancels the request.
func (c *httpTransport) drainBody(body io.Reader, closer io.Closer) {
	if c.keepsStreamsOpen.Load() {
		return
	}
	timer := time.AfterFunc(drainTimeout, func() {
		defer safe.Recover(safe.Timer)
		_ = closer.Close()
	})
	_, err := io.CopyN(io.Discard, body, drainBytes)
	if !timer.Stop() || err == nil {
		c.keepsStreamsOpen.Store(true)
	}
}

var errSessionID = errors.New("session id")

// readSessionID reads the session id: visible ASCII, because it is sent back in a header.
func readSessionID(h http.Header) (string, error) {
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
