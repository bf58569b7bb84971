package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// open begins a conversation in the era that the server speaks: the one that answered last time is tried first.
//
//	modern, known     no request: the first one that it is opened for tells whether the server is what it was
//	unknown, modern   server/discover, bounded; else initialize
//	handshake         initialize; else server/discover
//	sse               initialize over HTTP+SSE; else as unknown
//
// Where initialize is refused as by a server of the modern era, that one was only slow, and is asked again in full time. Where it is
// refused by 400, 404 or 405, the server may speak the HTTP+SSE of 2024.
func (s *Session) open(ctx context.Context) (*conversation, error) {
	if s.target.Transport == SSE {
		return s.openSSE(ctx)
	}
	if c := s.recall(); c != nil {
		return c, nil
	}
	switch s.era {
	case EraSSE:
		if c, err := s.openSSE(ctx); err == nil || !changed(err) {
			return c, err
		}
	case EraHandshake:
		c, err := s.openIn(ctx, handshakeEra{}, EraHandshake)
		if err == nil || !changed(err) {
			return c, err
		}
		if c, probed := s.probe(ctx); probed == nil {
			return c, nil
		}
		return s.fallBack(ctx, err)
	}
	began := time.Now()
	c, err := s.probe(ctx)
	if err == nil || !s.mayBeOld(err) {
		return c, err
	}
	// A server that is silent to both is given up in the time of one request.
	old := s.conversation(handshakeEra{}, EraHandshake)
	old.timeout -= time.Since(began)
	if c, err = s.begin(ctx, old); err == nil {
		return c, nil
	}
	return s.fallBack(ctx, err)
}

// fallBack opens a conversation after initialize was refused, or returns why.
func (s *Session) fallBack(ctx context.Context, refused error) (*conversation, error) {
	failure, ok := errors.AsType[*Error](refused)
	switch {
	case !ok:
	case isModern(failure.RPCCode):
		return s.openIn(ctx, modernEra{}, EraModern)
	case s.speaksSSE(failure):
		if c, err := s.openSSE(ctx); err == nil || tellsMore(err) {
			return c, err
		}
	}
	return nil, refused
}

// tellsMore tells whether a failure over HTTP+SSE says more than the refusal before it: the server does speak it, and wants something.
func tellsMore(err error) bool {
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

// speaksSSE tells whether a server that refused initialize so may speak the HTTP+SSE of 2024. (404 is what others answer there.)
func (s *Session) speaksSSE(failure *Error) bool {
	switch failure.HTTPStatus {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return s.target.Transport == "" || s.target.Transport == StreamableHTTP
	}
	return false
}

// openSSE begins a conversation over the HTTP+SSE of 2024.
func (s *Session) openSSE(ctx context.Context) (*conversation, error) {
	return s.openIn(ctx, handshakeEra{}, EraSSE)
}

// maxProbe is how long a server may take to show that it speaks the modern era. One that is slower shows it later, by how it refuses
// the handshake.
const maxProbe = 3 * time.Second

// probe asks the server whether it speaks the modern era. It costs one that does not a small request, which is not repeated.
func (s *Session) probe(ctx context.Context) (*conversation, error) {
	c := s.conversation(modernEra{}, EraModern)
	c.timeout = min(maxProbe, s.target.Timeout/2)
	c.retry.times = 0
	return s.begin(ctx, c)
}

// openIn begins a conversation in an era.
func (s *Session) openIn(ctx context.Context, e era, name Era) (*conversation, error) {
	return s.begin(ctx, s.conversation(e, name))
}

// conversation is a new one, on a carrier of its own.
func (s *Session) conversation(e era, name Era) *conversation {
	c := &conversation{
		era: e, name: name, timeout: s.target.Timeout, retry: s.retry, ids: &s.ids, report: s.report, trace: s.target.Trace,
		client: s.dialer.info(), capabilities: s.target.Capabilities,
	}
	if len(c.capabilities) == 0 {
		c.capabilities = []byte("{}")
	}
	c.life, c.die = context.WithCancel(context.Background())
	c.span, c.program = s.dialer.Span, s.target.Transport == Stdio
	c.shared = name == EraSSE || c.program
	c.carrier = s.dialer.carrier(s.target, name, c.take)
	return c
}

func (s *Session) begin(ctx context.Context, c *conversation) (*conversation, error) {
	if err := c.era.open(ctx, c); err != nil {
		c.close(ctx)
		return nil, err
	}
	c.timeout, c.retry = s.target.Timeout, s.retry
	s.era = c.name
	return c, nil
}

// mayBeOld tells whether a server that answered the probe so may still speak the handshake era: anything will do but what initialize
// would meet, too. A refusal for want of a credential does: many servers ask for one everywhere but at initialize and tools/list.
// One that finds fault with the credential that was sent does not.
func (s *Session) mayBeOld(err error) bool {
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
	return failure.Reason != ReasonRedirect && !isModern(failure.RPCCode)
}

// changed tells whether a server that refused the era of last time so may speak another by now.
func changed(err error) bool {
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
