package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// Request sends any other request, params being an object or empty, and returns the result byte for byte. It is sent once, as a
// call is: what it does is not known here. Every error is an *Error.
func (s *Session) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r, err := otherRequest(method, params)
	if err != nil {
		return nil, err
	}
	c := s.current()
	raw, err := c.once(ctx, r)
	if !lost(err) {
		return raw, err
	}
	next, renewed := s.renew(ctx, c)
	if !notFound(err) || renewed != nil {
		return nil, err
	}
	return next.once(ctx, r)
}

// otherRequest is a request with the caller's parameters.
func otherRequest(method string, params json.RawMessage) (request, error) {
	r := request{phase: PhaseRequest, method: method}
	fields, ok := wire.Members(params)
	if !ok {
		return r, ownMistake(PhaseRequest, "the parameters are not an object")
	}
	for _, f := range fields {
		if f.Name == "_meta" {
			if r.meta, ok = wire.Members(f.Value); !ok {
				return r, ownMistake(PhaseRequest, "the parameters' _meta is not an object")
			}
			r.meta = without(r.meta, metaProgress) // a token that is not ours could be another call's
			continue
		}
		r.params = append(r.params, f)
		if f.Name == subjects[method] {
			r.name = text(f.Value, len(f.Value))
		}
	}
	return r, nil
}

func notFound(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.HTTPStatus == http.StatusNotFound
}

// subjects are the parameters that Mcp-Name repeats, by method.
var subjects = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

// once sends a request, and again only where it was not sent.
func (c *conversation) once(ctx context.Context, r request) (json.RawMessage, error) {
	var reply *wire.Reply
	err := c.retry.unsent().do(ctx, func() (failure *Error) {
		reply, failure = c.exchange(ctx, c.era.message(c, r, c.id()))
		return failure
	})
	if err != nil {
		return nil, err
	}
	return reply.Result, nil
}

// Notify sends a notification, params being an object or empty.
func (s *Session) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if _, ok := wire.Members(params); !ok {
		return ownMistake(PhaseRequest, "the parameters are not an object")
	}
	if len(params) == 0 {
		params = nil
	}
	c, m := s.current(), notification(PhaseRequest, method, params)
	if c.mirrors() {
		m.header = request{method: method}.headers()
	}
	return c.retry.unsent().do(ctx, func() *Error {
		_, err := c.exchange(ctx, m)
		return err
	})
}

// Ping asks the server for a sign of life. In the modern era, which has no ping, server/discover is one.
func (s *Session) Ping(ctx context.Context) error {
	c := s.current()
	r := request{phase: PhaseRequest, method: "ping"}
	if !c.era.asks() {
		r.method = discover
	}
	_, err := c.once(ctx, r)
	return err
}
