package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/openapi/httpcall"
)

// apiCall is a call of an operation, which may take several requests.
type apiCall struct {
	*boundOperation
	server  *Server
	outcome *outcome
	memory  *callMemory
}

// sendAll makes the requests of a call, one for each page.
func (c apiCall) sendAll(ctx context.Context, arguments json.RawMessage) (httpcall.Response, error) {
	pager, err := httpcall.NewPager(c.binding, arguments, int(c.server.MaxBody))
	if err != nil {
		return httpcall.Response{}, err
	}
	request, err := pager.First()
	for request != nil && err == nil {
		var answer httpcall.Response
		if answer, err = c.sendRetried(ctx, request); err != nil {
			return httpcall.Response{}, err
		}
		request, err = pager.Add(answer)
	}
	return pager.Response(), err
}

func (c apiCall) sendOne(ctx context.Context, request *httpcall.Request) (httpcall.Response, error) {
	r, err := request.HTTP(ctx)
	if err != nil {
		return httpcall.Response{}, fault.Wrap(fault.Invalid, err, "The request can't be built.")
	}
	c.server.Credential.addTo(r, c.boundOperation)
	answer, err := c.server.sendHTTP(r)
	if err != nil {
		c.outcome.failure = withoutURL(err)
		if c.outcome.answered {
			c.outcome.failure = errUnfinished
		}
		return httpcall.Response{}, errReplaced
	}
	c.outcome.answered = true
	defer func() { _ = answer.Body.Close() }()
	body, err := c.readBody(io.LimitReader(answer.Body, c.server.MaxBody+1))
	if err != nil {
		c.outcome.failure = err
		return httpcall.Response{}, errReplaced
	}
	out := httpcall.Response{Status: answer.StatusCode, Header: answer.Header, Body: body, URL: request.URL, CheckJSON: serve.IsJSON}
	if int64(len(body)) > c.server.MaxBody {
		out.Body, out.Truncated = body[:c.server.MaxBody], true
	}
	removeKeys(&out, c.server.keyForms)
	return out, nil
}

// errUnfinished replaces a failure to connect after an answer to the same call: package mcp would take the call for unsent, and repeat it.
var errUnfinished = errors.New("the connection failed during the call")

// sendHTTP sends a request once. A transport is used without the client, which has redirects and cookies that are not wanted here.
func (s *Server) sendHTTP(r *http.Request) (*http.Response, error) {
	if s.Client.Transport == nil || s.Client.Timeout > 0 || s.Client.Jar != nil {
		return s.Client.Do(r)
	}
	return s.Client.Transport.RoundTrip(r)
}

// readBody reads the answer to one request. The memory of the call has it, unless the answers of several pages are needed together.
func (c apiCall) readBody(body io.Reader) ([]byte, error) {
	if c.binding.Pages != nil {
		return io.ReadAll(body)
	}
	c.memory.body.Reset()
	_, err := c.memory.body.ReadFrom(body)
	return c.memory.body.Bytes(), err
}
