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

// missing is an agent whose tool needs an account that it has not.
type missing struct {
	*bundle
	agent connectors.Agent
	c     connectors.Connector
	token secret.Text
	runs  atomic.Int32 // of the tool
}

func newMissing(t *testing.T) *missing {
	t.Helper()
	m := &missing{bundle: newBundle(t)}
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	sdk.AddTool(up.Server, &sdk.Tool{Name: "a"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		m.runs.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ran"}}}, nil, nil
	})
	m.c = m.to(t, "one", up.url, perAgent)
	m.agent = m.auto(t)
	m.Grant(t, m.agent.ID, m.c.ID)
	m.token = m.Token(t, m.agent.ID)
	return m
}

func (m *missing) page() string { return m.url + "/account/connections/" + m.agent.Slug + "/one" }

func opensURLs(o *sdk.ClientOptions) {
	o.Capabilities = &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}}
}

// byHand has the client leave it to the test what follows when a server asks.
func byHand(o *sdk.ClientOptions) {
	opensURLs(o)
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	o.ElicitationHandler = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return nil, errors.New("not asked")
	}
}

func TestAModernCallThatMissesAnAccountWaitsForItAndGoesOnOnce(t *testing.T) {
	t.Parallel()
	m := newMissing(t)
	asked := make(chan *sdk.ElicitParams, 10)
	s := connect(t, m.url+"/mcp", m.token, modern, opensURLs, func(o *sdk.ClientOptions) {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params
			return &sdk.ElicitResult{Action: "accept"}, nil // the person agrees to open the page, and is not done yet
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

func TestALegacyCallThatMissesAnAccountNamesThePageAndItsSessionHearsWhenItIsThere(t *testing.T) {
	t.Parallel()
	m := newMissing(t)
	told := make(chan string, 10)
	hears := func(o *sdk.ClientOptions) {
		byHand(o)
		o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) { told <- r.Params.ElicitationID }
	}
	s := connect(t, m.url+"/mcp", m.token, legacy, hears)
	connect(t, m.url+"/mcp", m.token, legacy, byHand, func(o *sdk.ClientOptions) {
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

// refused is the page that the error of a call names.
func (m *missing) refused(t *testing.T, s *sdk.ClientSession) sdk.ElicitParams {
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

// Most models are shown nothing but the text, and may repeat it anywhere.
func TestAModelReadsOfThePageThatAsksForASignInAndOfNoLink(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		m := newMissing(t)
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

// asks makes the call by hand until a page is named.
func (m *missing) asks(t *testing.T, s *sdk.ClientSession) *sdk.CallToolParams {
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

func TestTheStateOfACallThatMissedAnAccountIsGoodForThatCallOnce(t *testing.T) {
	t.Parallel()
	m := newMissing(t)
	s := connect(t, m.url+"/mcp", m.token, modern, byHand)
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
	other := m.auto(t)
	m.Grant(t, other.ID, m.c.ID)
	m.account(t, m.c, other.ID, "another account")
	bad("another agent", connect(t, m.url+"/mcp", m.Token(t, other.ID), modern, byHand), *p)
	if m.runs.Load() != 0 {
		t.Fatalf("the tool ran %d times", m.runs.Load())
	}

	var done atomic.Int32
	results := make(chan error)
	for range 4 {
		own := *p // the client writes into what it is given
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

func TestAPersonWhoConnectsNothingEndsTheCall(t *testing.T) {
	t.Parallel()
	m := newMissing(t)
	s := connect(t, m.url+"/mcp", m.token, modern, byHand)
	for _, action := range []string{"decline", "cancel"} {
		p := m.asks(t, s)
		for key := range p.InputResponses {
			p.InputResponses[key] = &sdk.ElicitResult{Action: action}
		}
		result, err := s.CallTool(t.Context(), p)
		if err != nil || !result.IsError || !strings.Contains(textOf(result), "did not connect") || m.runs.Load() != 0 {
			t.Errorf("%s: %s, %v", action, shownJSON(result), err)
		}
	}
}

func TestAPersonWhoTakesTheirTimeIsAskedWhetherToWaitOn(t *testing.T) {
	t.Parallel()
	m := newMissing(t)
	m.AsSystem(t, "update tenants set approval_timeout_s = 1 where id = $1", []any{m.Tenant})
	s := connect(t, m.url+"/mcp", m.token, modern, byHand)
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
