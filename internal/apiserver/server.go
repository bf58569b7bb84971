package apiserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/toolchange"
)

// URL is the address of every Server. It is never resolved.
const URL = "http://api.patchbay.invalid/mcp"

// Server is the MCP server of one API. It is an http.RoundTripper: no request for [URL] leaves the process.
type Server struct {
	Title   string
	Version string // of the document
	// Tools returns the definitions with their bindings, for tools/list. An error that is a fault is said to the client.
	Tools func(context.Context) ([]openapi.Tool, error)
	// Client sends the calls. It must not follow redirects.
	Client     *http.Client
	Credential Credential
	Retries    Retries
	// MaxBody bounds an answer of the API, in bytes.
	MaxBody int64
	Now     func() time.Time // nil: time.Now

	server     *serve.Server
	operations *operationCache
}

// New returns a server for s.
func New(s Server) *Server {
	if s.Now == nil {
		s.Now = time.Now
	}
	s.operations = &operationCache{}
	s.server = serve.New(serve.Options{UseNetHTTP: true, MaxBody: httpcall.MaxArguments, StreamAfter: time.Hour, Origins: func(*http.Request) bool { return true }})
	return &s
}

// outcome is what the API did instead of an answer for the model.
type outcome struct {
	refused *httpcall.Response // nil: it did not refuse
	failure error              // of the connection
}

type outcomeKey struct{}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	out := &outcome{}
	ctx := context.WithValue(r.Context(), outcomeKey{}, out)
	if r.Method == http.MethodPost && r.Body != nil {
		message, err := readMessage(r)
		if err != nil {
			return nil, err
		}
		if body, ok := s.answerCall(ctx, message); ok {
			return s.finishResponse(r, out, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body)
		}
		r = r.Clone(ctx)
		r.Body = io.NopCloser(bytes.NewReader(message))
	}
	w := &recorder{header: http.Header{}}
	s.server.Handle(w, r.WithContext(ctx), "", mcpBackend{s})
	return s.finishResponse(r, out, w.status, w.header, net.Buffers{w.body.Bytes()})
}

// finishResponse returns the response of a request, unless the connection to the API failed or the API refused the call.
func (s *Server) finishResponse(r *http.Request, out *outcome, status int, header http.Header, body net.Buffers) (*http.Response, error) {
	if err := cmp.Or(r.Context().Err(), out.failure); err != nil {
		return nil, err
	}
	if out.refused != nil {
		status, header, body = out.refused.Status, out.refused.Header, net.Buffers{out.refused.Body}
	}
	length := 0
	for _, part := range body {
		length += len(part)
	}
	return newResponse(r, status, header, &body, int64(length)), nil
}

type mcpBackend struct{ s *Server }

var _ serve.Backend = mcpBackend{}

// Describe implements [serve.Backend].
func (b mcpBackend) Describe(context.Context, *serve.Client) serve.Description {
	return serve.Description{Name: b.s.Title, Version: b.s.Version, Capabilities: json.RawMessage(`{"tools":{}}`)}
}

// CachedResult implements [serve.Backend].
func (mcpBackend) CachedResult(string, string, *serve.Client) []byte { return nil }

// Listen implements [serve.Backend]: an API reports no changes.
func (mcpBackend) Listen(ctx context.Context, _ serve.Filter, _ func(string, json.RawMessage)) error {
	<-ctx.Done()
	return ctx.Err()
}

// HandleNotification implements [serve.Backend].
func (mcpBackend) HandleNotification(context.Context, *serve.Client, string, json.RawMessage) {}

// Serve implements [serve.Backend].
func (b mcpBackend) Serve(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	switch r.Method {
	case "tools/list":
		return b.s.listTools(ctx)
	case "tools/call":
		return b.s.callTool(ctx, r)
	}
	return nil, serve.MethodNotFound(r.Method)
}

func (s *Server) listTools(ctx context.Context) (json.RawMessage, error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return nil, toRPCError(ctx, err)
	}
	out := []byte(`{"tools":[`)
	for i, tool := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendTool(out, tool)
	}
	return append(out, "]}"...), nil
}

// CallMeta returns the _meta of a call, by the binding of its definition.
func CallMeta(binding json.RawMessage) json.RawMessage {
	meta := append([]byte(`{"`+toolchange.BindingMember+`":`), binding...)
	return append(meta, '}')
}

// appendTool writes a definition with its binding.
func appendTool(out []byte, tool openapi.Tool) []byte {
	definition := bytes.TrimRight(tool.Definition, " \n")
	out = append(out, definition[:len(definition)-1]...)
	out = append(out, `,"`+toolchange.BindingMember+`":`...)
	out = append(out, tool.Binding.JSON()...)
	return append(out, '}')
}

func (s *Server) callTool(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	raw := r.MetaMember(toolchange.BindingMember)
	if raw == nil {
		return nil, serve.InvalidParams("The call has no binding.")
	}
	bound, err := s.operations.readOperation(raw)
	if err != nil {
		return nil, toRPCError(ctx, err)
	}
	binding := bound.binding
	answer, err := s.sendCall(ctx, binding, r.Arguments)
	if err != nil {
		return nil, toRPCError(ctx, err)
	}
	if isServersOwn(answer.Status) && (answer.Status != http.StatusUnauthorized || s.Credential.isFor(binding.Server)) {
		outcomeOf(ctx).refused = &answer
		return nil, errReplaced
	}
	if answer.Status == http.StatusUnauthorized {
		answer.Header.Set("Content-Type", "text/plain")
		answer.Body = append([]byte("The credential of "+s.Title+" is for "+s.Credential.Origin+" only.\n"), answer.Body...)
	}
	result := httpcall.NewResult(ctx, binding, answer, bound.filter, s.Now()).JSON
	return append(result[:len(result)-1], `,"resultType":"complete"}`...), nil
}

// isServersOwn reports whether an error concerns the account or the server, and not what was asked.
func isServersOwn(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// sendCall makes the requests of a call, one for each page.
func (s *Server) sendCall(ctx context.Context, binding *openapi.Binding, arguments json.RawMessage) (httpcall.Response, error) {
	pager, err := httpcall.NewPager(binding, arguments, int(s.MaxBody))
	if err != nil {
		return httpcall.Response{}, err
	}
	request, err := pager.First()
	for request != nil && err == nil {
		var answer httpcall.Response
		if answer, err = s.sendRetried(ctx, request); err != nil {
			return httpcall.Response{}, err
		}
		request, err = pager.Add(answer)
	}
	return pager.Response(), err
}

func (s *Server) sendOne(ctx context.Context, request *httpcall.Request) (httpcall.Response, error) {
	r, err := request.HTTP(ctx)
	if err != nil {
		return httpcall.Response{}, fault.Wrap(fault.Invalid, err, "The request can't be made.")
	}
	s.Credential.addTo(r)
	answer, err := s.Client.Do(r)
	if err != nil {
		outcomeOf(ctx).failure = withoutURL(err)
		return httpcall.Response{}, errReplaced
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := readBody(answer, s.MaxBody+1)
	if err != nil {
		outcomeOf(ctx).failure = err
		return httpcall.Response{}, errReplaced
	}
	out := httpcall.Response{Status: answer.StatusCode, Header: answer.Header, Body: body, URL: request.URL, CheckJSON: serve.IsJSON}
	if int64(len(body)) > s.MaxBody {
		out.Body, out.Truncated = body[:s.MaxBody], true
	}
	s.Credential.removeFrom(&out)
	return out, nil
}

// readBody reads at most limit bytes.
func readBody(answer *http.Response, limit int64) ([]byte, error) {
	if n := answer.ContentLength; n >= 0 && n < min(limit, maxPrepared) {
		body := make([]byte, n)
		_, err := io.ReadFull(answer.Body, body)
		return body, err
	}
	buffer := bodyBuffers.Get().(*bytes.Buffer)
	buffer.Reset()
	_, err := buffer.ReadFrom(io.LimitReader(answer.Body, limit))
	body := bytes.Clone(buffer.Bytes())
	if buffer.Cap() <= maxPrepared {
		bodyBuffers.Put(buffer)
	}
	return body, err
}

// maxPrepared bounds the memory that is taken for a body before it has come, in bytes, and that of a buffer that is kept.
const maxPrepared = 256 << 10

var bodyBuffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// withoutURL returns the cause of a failed request. http.Client says the URL, which may have a key.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// errReplaced ends a call. RoundTrip replaces its response.
var errReplaced = serve.InvalidParams("The API refused the call.")

func outcomeOf(ctx context.Context) *outcome { return ctx.Value(outcomeKey{}).(*outcome) }

// toRPCError says a fault to the client. Any other error is a failure of the connection.
func toRPCError(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*serve.RPCError](err); ok {
		return own
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return serve.InvalidParams(f.Message)
	}
	outcomeOf(ctx).failure = err
	return errReplaced
}

type recorder struct {
	header http.Header
	status int // 0: not written
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
