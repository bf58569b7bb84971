package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// patience bounds the wait for a server that responds at once; only a defect reaches it.
const patience = time.Minute

// client is a dialer. Its connections end with the test, and its pauses are recorded instead of awaited.
type client struct {
	*mcp.Dialer
	mu     sync.Mutex
	pauses []time.Duration
}

func newClient(t testing.TB) *client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client{}
	c.Dialer = &mcp.Dialer{
		HTTP: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Version: "1.2.3",
		Jitter:  func() float64 { return 1 },
		Sleep: func(_ context.Context, d time.Duration) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.pauses = append(c.pauses, d)
			return nil
		},
	}
	return c
}

// inMemory returns a scripted server and a client without a network, for a synctest bubble: timing does not
// depend on the machine.
func inMemory(t testing.TB, script mcptest.Script) (*mcptest.Server, *client) {
	t.Helper()
	up, c := mcptest.StartInMemory(t, script), newClient(t)
	transport := &http.Transport{DialContext: up.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	c.HTTP.Transport = transport
	return up, c
}

// sync dials, lists and closes. A target without an era gets the handshake era.
func (c *client) sync(t testing.TB, target mcp.Target) (mcp.ServerInfo, mcp.ToolList, error) {
	t.Helper()
	if target.Timeout == 0 {
		target.Timeout = patience
	}
	if target.Era == mcp.EraUnknown {
		target.Era = mcp.EraHandshake
	}
	s, err := c.Dial(t.Context(), target)
	if err != nil {
		return mcp.ServerInfo{}, mcp.ToolList{}, err
	}
	defer s.Close(t.Context())
	list, err := s.Tools(t.Context())
	return s.Server(), list, err
}

func syncScript(t testing.TB, script mcptest.Script) (*mcptest.Server, mcp.ToolList, error) {
	t.Helper()
	up := mcptest.Start(t, script)
	_, list, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
	return up, list, err
}

func names(list mcp.ToolList) string {
	var all []string
	for _, tool := range list.Tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

type errorFacts struct {
	Phase     mcp.Phase
	Reason    mcp.Reason
	HTTP, RPC int
	Detail    string
	Retryable bool
}

func newErrorFacts(t testing.TB, err error) errorFacts {
	t.Helper()
	failure, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		t.Fatalf("error = %v (%T), want an *mcp.Error", err, err)
	}
	return errorFacts{failure.Phase, failure.Reason, failure.HTTPStatus, failure.RPCCode, failure.Detail, failure.Retryable}
}

func asError(err error) *mcp.Error {
	failure, _ := errors.AsType[*mcp.Error](err)
	return failure
}

func rawServer(t *testing.T, answer string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Wait()
	})
	return "http://" + listener.Addr().String() + "/mcp"
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip answers the request.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(r *http.Request, status int, body string, header ...string) *http.Response {
	recorder := httptest.NewRecorder()
	mcptest.Status(status, body, header...)(recorder, r, mcptest.Call{})
	return recorder.Result()
}
