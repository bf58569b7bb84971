package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// accountTest is an agent with a tool that needs a missing account.
type accountTest struct {
	*testEnv
	agent connectors.Agent
	c     connectors.Connector
	token secret.Text
	runs  atomic.Int32 // of the tool
}

func newAccountTest(t *testing.T) *accountTest {
	t.Helper()
	m := &accountTest{testEnv: newTestEnv(t)}
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	sdk.AddTool(up.Server, &sdk.Tool{Name: "a"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		m.runs.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ran"}}}, nil, nil
	})
	m.c = m.newConnector(t, "one", up.url, perAgent)
	m.agent = m.newAutoAgent(t)
	m.Grant(t, m.agent.ID, m.c.ID)
	m.token = m.Token(t, m.agent.ID)
	return m
}

func (m *accountTest) page() string { return m.url + "/account/connections/" + m.agent.Slug + "/one" }

func opensURLs(o *sdk.ClientOptions) {
	o.Capabilities = &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}}
}

// withManualElicitation leaves the client's elicitation to the test.
func withManualElicitation(o *sdk.ClientOptions) {
	opensURLs(o)
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	o.ElicitationHandler = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return nil, errors.New("not asked")
	}
}

func TestElicitation_ModernCallResumesOnce(t *testing.T) {
	t.Parallel()
	m := newAccountTest(t)
	asked := make(chan *sdk.ElicitParams, 10)
	s := connect(t, m.url+"/mcp", m.token, modern, opensURLs, func(o *sdk.ClientOptions) {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params
			return &sdk.ElicitResult{Action: "accept"}, nil // the person opens the page and has not finished
		}
	})
	connected := make(chan struct{})
	go func() {
		defer close(connected)
		p := <-asked
		if p.Mode != "url" || p.URL != m.page() || p.Message == "" {
			t.Errorf("asked for %+v", p)
		}
		m.account(t, m.c, m.agent.ID, "account")
	}()
	result := call(t, s, "mcp_one__a", map[string]any{})
	<-connected
	if result.IsError || textOf(result) != "ran" || m.runs.Load() != 1 {
		t.Errorf("%s after %d runs", shownJSON(result), m.runs.Load())
	}
}

func TestElicitation_LegacySessionIsNotifiedWhenConnected(t *testing.T) {
	t.Parallel()
	m := newAccountTest(t)
	told := make(chan string, 10)
	hears := func(o *sdk.ClientOptions) {
		withManualElicitation(o)
		o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) { told <- r.Params.ElicitationID }
	}
	s := connect(t, m.url+"/mcp", m.token, legacy, hears)
	connect(t, m.url+"/mcp", m.token, legacy, withManualElicitation, func(o *sdk.ClientOptions) {
		o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			t.Errorf("another session hears of %s", r.Params.ElicitationID)
		}
	})
	first, second := m.refused(t, s), m.refused(t, s)
	if first.ElicitationID == "" || first.ElicitationID != second.ElicitationID || first.URL != m.page() || first.Mode != "url" {
		t.Errorf("%+v, then %+v", first, second)
	}
	m.account(t, m.c, m.agent.ID, "account")
	if id := <-told; id != first.ElicitationID {
		t.Errorf("told of %q, want %q", id, first.ElicitationID)
	}
	if result := call(t, s, "mcp_one__a", map[string]any{}); result.IsError || textOf(result) != "ran" || m.runs.Load() != 1 {
		t.Errorf("%s after %d runs", shownJSON(result), m.runs.Load())
	}
}

// refused returns the page that a call's error names.
func (m *accountTest) refused(t *testing.T, s *sdk.ClientSession) sdk.ElicitParams {
	t.Helper()
	_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp_one__a", Arguments: map[string]any{}})
	failure, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || failure.Code != sdk.CodeURLElicitationRequired || !strings.Contains(failure.Message, m.page()) || strings.Contains(failure.Message+string(failure.Data), m.url+"/connect/") {
		t.Fatalf("the call fails with %v", err)
	}
	var data struct{ Elicitations []sdk.ElicitParams }
	if err := json.Unmarshal(failure.Data, &data); err != nil || len(data.Elicitations) != 1 {
		t.Fatalf("%s, %v", failure.Data, err)
	}
	return data.Elicitations[0]
}

// Most models see only the text and may repeat it anywhere.
func TestRefusal_NamesSignInPageNotLink(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		m := newAccountTest(t)
		result := call(t, connect(t, m.url+"/mcp", m.token, e), "mcp_one__a", map[string]any{})
		text := textOf(result)
		if !result.IsError || !strings.Contains(text, m.page()) || strings.Contains(text, m.url+"/connect/") || m.runs.Load() != 0 {
			t.Errorf("%s: %s", e, shownJSON(result))
		}
		if link := reasonIn(t, result)["connect_url"]; link != m.url+"/connect/one" {
			t.Errorf("%s: the program reads of %v", e, link)
		}
	}
}

// asks calls the tool until the error names a page.
func (m *accountTest) asks(t *testing.T, s *sdk.ClientSession) *sdk.CallToolParams {
	t.Helper()
	p := &sdk.CallToolParams{Name: "mcp_one__a", Arguments: map[string]any{"n": 1}}
	result, err := s.CallTool(t.Context(), p)
	if err != nil || !result.NeedsInput() || result.RequestState == "" {
		t.Fatalf("%s, %v", shownJSON(result), err)
	}
	p.RequestState = result.RequestState
	p.InputResponses = sdk.InputResponseMap{}
	for key := range result.InputRequests {
		p.InputResponses[key] = &sdk.ElicitResult{Action: "accept"}
	}
	return p
}

func TestRequestState_IsValidForOneCallOnce(t *testing.T) {
	t.Parallel()
	m := newAccountTest(t)
	s := connect(t, m.url+"/mcp", m.token, modern, withManualElicitation)
	p := m.asks(t, s)
	bad := func(what string, s *sdk.ClientSession, p sdk.CallToolParams) {
		t.Helper()
		if result, err := s.CallTool(t.Context(), &p); err == nil {
			t.Errorf("%s: %s", what, shownJSON(result))
		}
	}
	m.account(t, m.c, m.agent.ID, "account")

	changed := *p
	changed.Arguments = map[string]any{"n": 2}
	bad("other arguments", s, changed)
	invented := *p
	invented.RequestState += "x"
	bad("an invented state", s, invented)
	other := m.newAutoAgent(t)
	m.Grant(t, other.ID, m.c.ID)
	m.account(t, m.c, other.ID, "another account")
	bad("another agent", connect(t, m.url+"/mcp", m.Token(t, other.ID), modern, withManualElicitation), *p)
	if m.runs.Load() != 0 {
		t.Fatalf("the tool ran %d times", m.runs.Load())
	}

	var done atomic.Int32
	results := make(chan error)
	for range 4 {
		own := *p // the client modifies its params
		go func() {
			result, err := s.CallTool(t.Context(), &own)
			if err == nil && !result.IsError && !result.NeedsInput() {
				done.Add(1)
			}
			results <- err
		}()
	}
	for range 4 {
		<-results
	}
	if done.Load() != 1 || m.runs.Load() != 1 {
		t.Errorf("of four that come with the state %d are answered, and the tool ran %d times", done.Load(), m.runs.Load())
	}
	bad("the same once more", s, *p)
}

func TestElicitation_DeclineEndsCall(t *testing.T) {
	t.Parallel()
	m := newAccountTest(t)
	s := connect(t, m.url+"/mcp", m.token, modern, withManualElicitation)
	for _, action := range []string{"decline", "cancel"} {
		p := m.asks(t, s)
		for key := range p.InputResponses {
			p.InputResponses[key] = &sdk.ElicitResult{Action: action}
		}
		result, err := s.CallTool(t.Context(), p)
		if err != nil || !result.IsError || !strings.Contains(textOf(result), "wasn't connected") || m.runs.Load() != 0 {
			t.Errorf("%s: %s, %v", action, shownJSON(result), err)
		}
	}
}

func TestElicitation_AsksAgainAfterTimeout(t *testing.T) {
	t.Parallel()
	m := newAccountTest(t)
	m.AsSystem(t, "update tenants set approval_timeout_s = 1 where id = $1", []any{m.Tenant})
	s := connect(t, m.url+"/mcp", m.token, modern, withManualElicitation)
	p := m.asks(t, s)
	again, err := s.CallTool(t.Context(), p)
	if err != nil || !again.NeedsInput() || again.RequestState == "" {
		t.Fatalf("%s, %v", shownJSON(again), err)
	}
	p.RequestState = again.RequestState
	m.account(t, m.c, m.agent.ID, "account")
	result, err := s.CallTool(t.Context(), p)
	if err != nil || result.IsError || textOf(result) != "ran" {
		t.Errorf("%s, %v", shownJSON(result), err)
	}
}
