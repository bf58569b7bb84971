package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// openConnection opens a connection in the era that the server speaks. The era that worked last time is tried
// first.
//
//	Resume            no request; if the server has lost the session, the next opening is one of the following
//	modern, known     no request; the first one shows whether Known is still valid
//	modern            server/discover; initialize only if the error is no outage
//	unknown, modern   server/discover, bounded; else initialize
//	handshake         initialize; else server/discover
//	sse               initialize over HTTP+SSE; else as unknown
//
// If initialize is refused with a modern-era error, the server was only slow: it is probed again with the full
// timeout. If it is refused with 400, 404 or 405, the server may speak HTTP+SSE.
func (s *Session) openConnection(ctx context.Context) (*connection, error) {
	if c := s.openResumed(); c != nil {
		return c, nil
	}
	if s.target.Transport == SSE {
		return s.openSSE(ctx)
	}
	if c := s.openFromCache(); c != nil {
		return c, nil
	}
	switch s.era {
	case EraSSE:
		if c, err := s.openSSE(ctx); err == nil || !mayHaveChangedEra(err) {
			return c, err
		}
	case EraHandshake:
		c, err := s.openWithEra(ctx, handshakeEra{}, EraHandshake)
		if err == nil || !mayHaveChangedEra(err) {
			return c, err
		}
		if c, probed := s.probeModern(ctx); probed == nil {
			return c, nil
		}
		return s.openFallback(ctx, err)
	}
	began := time.Now()
	c, err := s.probeModern(ctx)
	if err == nil || !s.maySpeakHandshake(err) {
		return c, err
	}
	if s.era == EraModern && isOutage(err) {
		return s.openWithEra(ctx, modernEra{}, EraModern)
	}
	// Both attempts together take the time of one request.
	old := s.newConnection(handshakeEra{}, EraHandshake)
	old.timeout -= time.Since(began)
	if c, err = s.beginConnection(ctx, old); err == nil {
		return c, nil
	}
	return s.openFallback(ctx, err)
}

// openFallback opens a connection after initialize was refused, or returns that error.
func (s *Session) openFallback(ctx context.Context, refused error) (*connection, error) {
	failure, ok := errors.AsType[*Error](refused)
	switch {
	case !ok:
	case isModernCode(failure.RPCCode):
		return s.openWithEra(ctx, modernEra{}, EraModern)
	case s.maySpeakSSE(failure):
		if c, err := s.openSSE(ctx); err == nil || isDefinitiveRefusal(err) {
			return c, err
		}
	}
	return nil, refused
}

// isDefinitiveRefusal reports whether an error over HTTP+SSE says more than the refusal before it: the server speaks
// HTTP+SSE but refuses the request.
func isDefinitiveRefusal(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch failure.Reason {
	case ReasonUnauthorized:
		return failure.HTTPStatus == http.StatusUnauthorized
	case ReasonRPC, ReasonUnsupportedVersion:
		return true
	}
	return false
}

// maySpeakSSE reports whether a server that refused initialize with this error may speak HTTP+SSE. (Other
// servers send 404 there.)
func (s *Session) maySpeakSSE(failure *Error) bool {
	switch failure.HTTPStatus {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return s.target.Transport == "" || s.target.Transport == StreamableHTTP
	}
	return false
}

func (s *Session) openSSE(ctx context.Context) (*connection, error) {
	return s.openWithEra(ctx, handshakeEra{}, EraSSE)
}

// maxProbeTime bounds the probe for the modern era. A slower server is detected later, by its refusal of the
// handshake.
const maxProbeTime = 3 * time.Second

// probeModern sends one server/discover without retries.
func (s *Session) probeModern(ctx context.Context) (*connection, error) {
	c := s.newConnection(modernEra{}, EraModern)
	c.timeout = min(maxProbeTime, s.target.Timeout/2)
	c.retry.maxRetries = 0
	return s.beginConnection(ctx, c)
}

func (s *Session) openWithEra(ctx context.Context, e eraProtocol, name Era) (*connection, error) {
	return s.beginConnection(ctx, s.newConnection(e, name))
}

// newConnection returns an unopened connection with a transport of its own.
func (s *Session) newConnection(e eraProtocol, name Era) *connection {
	c := &connection{
		era: e, eraName: name, timeout: s.target.Timeout, retry: s.retryPolicy, lastID: &s.lastID, reportProgress: s.reportProgress, trace: s.target.Trace,
		clientInfo: s.dialer.clientInfo(), capabilities: s.target.Capabilities,
	}
	if len(c.capabilities) == 0 {
		c.capabilities = []byte("{}")
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.traceContext, c.isProgram = s.dialer.TraceContext, s.target.Transport == Stdio
	c.hasSharedStream = name == EraSSE || c.isProgram
	c.transport = s.dialer.newTransport(s.target, name, c.handleMessage)
	if own, ok := c.transport.(*httpTransport); ok {
		own.isAnswering = c.isAnswering
	}
	return c
}

func (s *Session) beginConnection(ctx context.Context, c *connection) (*connection, error) {
	if err := c.era.openConnection(ctx, c); err != nil {
		c.close(ctx)
		return nil, err
	}
	c.timeout, c.retry = s.target.Timeout, s.retryPolicy
	s.era = c.eraName
	return c, nil
}

// maySpeakHandshake reports whether a server with this response to the probe may speak the handshake era. An
// error that initialize would meet too excludes it. Missing credentials do not: many servers require them
// everywhere but at initialize and tools/list. Refused credentials do.
func (s *Session) maySpeakHandshake(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return false
	case failure.Reason == ReasonUnreachable || failure.Phase == PhaseConnect:
		return failure.Retryable
	case failure.Reason == ReasonUnsupportedVersion:
		return errors.Is(err, errOtherEra)
	case failure.Reason == ReasonUnauthorized:
		sent := s.target.Header.Get("Authorization") != ""
		return !sent || !slices.ContainsFunc(failure.Challenges, func(c Challenge) bool { return c.Params["error"] != "" })
	}
	return failure.Reason != ReasonRedirect && !isModernCode(failure.RPCCode)
}

// isOutage reports whether an error says nothing about the server's era. A server of the modern era that is opened
// by initialize at the end of an outage offers less: it may have no stream for its own messages.
func isOutage(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Reason != ReasonUnauthorized && !mayHaveChangedEra(err)
}

// mayHaveChangedEra reports whether a server that refused its stored era with this error may speak another one
// now.
func mayHaveChangedEra(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch failure.Reason {
	case ReasonHTTPStatus:
		return failure.HTTPStatus < 500 && failure.HTTPStatus != http.StatusTooManyRequests
	case ReasonRPC, ReasonProtocol, ReasonUnsupportedVersion:
		return true
	}
	return false
}
