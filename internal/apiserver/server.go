package apiserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/inprocess"
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
	listed     *listedTools
	operations *operationCache
	keyForms   []string // that answers do not repeat
}

// New returns a server for s.
func New(s Server) *Server {
	if s.Now == nil {
		s.Now = time.Now
	}
	s.listed, s.operations, s.keyForms = &listedTools{}, &operationCache{}, s.Credential.keyForms()
	s.server = serve.New(serve.Options{UseNetHTTP: true, MaxBody: httpcall.MaxArguments, StreamAfter: time.Hour, Origins: func(*http.Request) bool { return true }})
	return &s
}

// outcome is what the API did instead of an answer for the model.
type outcome struct {
	refused  *httpcall.Response // nil: it did not refuse
	failure  error              // of the connection
	answered bool               // a request of the call has an answer
}

type outcomeKey struct{}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	out := &outcome{}
	if r.Method == http.MethodPost && r.Body != nil {
		message, err := readMessage(r)
		if err != nil {
			return nil, err
		}
		memory := memories.Get().(*callMemory)
		if ok := s.answerCall(r.Context(), out, memory, message); ok {
			return s.finishResponse(r, out, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, memory)
		}
		memory.releaseMemory()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(message))
	}
	w := &inprocess.Recorder{}
	s.server.Handle(w, r.WithContext(context.WithValue(r.Context(), outcomeKey{}, out)), "", mcpBackend{s})
	return s.finishResponse(r, out, w.Status, w.Header(), &callMemory{result: w.Body.Bytes()})
}

// finishResponse returns the response of a request, unless the connection to the API failed or the API refused the call.
func (s *Server) finishResponse(r *http.Request, out *outcome, status int, header http.Header, memory *callMemory) (*http.Response, error) {
	if err := cmp.Or(r.Context().Err(), out.failure); err != nil {
		memory.releaseMemory()
		return nil, err
	}
	memory.rest = memory.result
	if out.refused != nil {
		status, header, memory.rest = out.refused.Status, out.refused.Header, out.refused.Body
	}
	return newResponse(r, status, header, memory), nil
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
		return b.s.listTools(ctx, r.Cursor)
	case "tools/call":
		return b.s.callTool(ctx, outcomeOf(ctx), &callMemory{}, r)
	}
	return nil, serve.MethodNotFound(r.Method)
}

// CallMeta returns the _meta of a call, by the binding of its definition.
func CallMeta(binding json.RawMessage) json.RawMessage {
	meta := append([]byte(`{"`+toolchange.BindingMember+`":`), binding...)
	return append(meta, '}')
}

// callTool returns memory.result with the result of a call appended.
func (s *Server) callTool(ctx context.Context, out *outcome, memory *callMemory, r *serve.Request) (json.RawMessage, error) {
	raw := r.MetaMember(toolchange.BindingMember)
	if raw == nil {
		return nil, serve.InvalidParams("The tool has no stored request. Sync the connector's tools.")
	}
	bound, err := s.operations.readOperation(raw)
	if err != nil {
		return nil, toRPCError(out, err)
	}
	binding := bound.binding
	call := apiCall{boundOperation: bound, server: s, outcome: out, memory: memory}
	answer, err := call.sendAll(ctx, r.Arguments)
	if err != nil {
		return nil, toRPCError(out, err)
	}
	if isServersOwn(answer.Status) && (answer.Status != http.StatusUnauthorized || s.Credential.isFor(binding.Server)) {
		out.refused = &answer
		return nil, errReplaced
	}
	if answer.Status == http.StatusUnauthorized {
		answer.Header.Set("Content-Type", "text/plain")
		answer.Body = append([]byte("The credential of "+s.Title+" is for "+s.Credential.Origin+" only.\n"), answer.Body...)
	}
	answer.Space = memory.result
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
func toRPCError(out *outcome, err error) error {
	if own, ok := errors.AsType[*serve.RPCError](err); ok {
		return own
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return serve.InvalidParams(f.Message)
	}
	out.failure = err
	return errReplaced
}
