package devmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/devmcp"
	"patchbay/internal/testing/testclient"
)

func startServer(t *testing.T, o devmcp.Options) *httptest.Server {
	t.Helper()
	up := httptest.NewServer(devmcp.Handler(o))
	t.Cleanup(up.Close)
	return up
}

// withHeaders adds headers to every request.
type withHeaders struct {
	header http.Header
	next   http.RoundTripper
}

// RoundTrip sends the request with the headers.
func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h.header {
		r.Header[name] = values
	}
	return h.next.RoundTrip(r)
}

// connectClient connects the SDK's client, an independent implementation.
func connectClient(t *testing.T, url string, header http.Header) (*sdk.ClientSession, error) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: withHeaders{header, testclient.New(t).Transport}},
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func TestModes_ListTheDefaultTools(t *testing.T) {
	t.Parallel()
	up := startServer(t, devmcp.Options{Delay: time.Millisecond})
	credentials := http.Header{}
	for _, mode := range devmcp.Modes {
		switch mode.Name {
		case "failing":
			continue
		case "bearer":
			credentials = http.Header{"Authorization": {"Bearer " + devmcp.DefaultToken}}
		case "api-key":
			credentials = http.Header{"X-Api-Key": {devmcp.DefaultToken}}
		case "basic":
			r := &http.Request{Header: http.Header{}}
			r.SetBasicAuth("dev", devmcp.DefaultToken)
			credentials = r.Header
		}
		session, err := connectClient(t, up.URL+mode.Path, credentials)
		if err != nil {
			t.Errorf("%s: %v", mode.Name, err)
			continue
		}
		count := 0
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatalf("%s: %v", mode.Name, err)
			}
			if tool.Name == "" || tool.Description == "" || tool.InputSchema == nil {
				t.Errorf("%s: tool %+v", mode.Name, tool)
			}
			count++
		}
		if count != 12 {
			t.Errorf("%s: %d tools, want 12", mode.Name, count)
		}
	}
}

func TestModes_RefuseWrongCredentials(t *testing.T) {
	t.Parallel()
	up := startServer(t, devmcp.Options{Token: "right"})
	for path, challenge := range map[string]string{
		"/bearer": `Bearer realm="dev-mcp"`, "/basic": `Basic realm="dev-mcp"`, "/api-key": "",
	} {
		for _, header := range []http.Header{
			{}, {"Authorization": {"Bearer wrong"}}, {"X-Api-Key": {"dev-token"}}, {"Authorization": {"Basic ZGV2Ondyb25n"}},
		} {
			resp := postBody(t, up.URL+path, answerInitialize, header)
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != challenge {
				t.Errorf("%s with %v: %s, challenge %q", path, header, resp.Status, resp.Header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestCallTool(t *testing.T) {
	t.Parallel()
	session, err := connectClient(t, startServer(t, devmcp.Options{}).URL+"/sse-replies", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments map[string]any
		want      string
		isError   bool
	}{
		"search_issues": {map[string]any{"query": "dark"}, "1 issues found.", false},
		"get_issue":     {map[string]any{"number": 17}, "#17 Sync fails behind a proxy (open)", false},
		"create_issue":  {map[string]any{"title": "x"}, "title must have at least 3 characters.", true},
		"list_labels":   {nil, "bug, feature, question, good first issue", false},
		"run_report":    {map[string]any{"report": "weekly"}, "run_report was called with 1 arguments. This server is for practice: nothing happened.", false},
	} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: c.arguments})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		content, _ := result.Content[0].(*sdk.TextContent)
		if content.Text != c.want || result.IsError != c.isError {
			t.Errorf("%s: %q, error %v", name, content.Text, result.IsError)
		}
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nonsense"}); err == nil {
		t.Error("an unknown tool was called")
	}
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Errorf("ping: %v", err)
	}
}

const (
	answerInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	list             = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// postBody posts a message as an MCP client does; header overrides its headers.
func postBody(t *testing.T, url, body string, header http.Header) *http.Response {
	t.Helper()
	return sendRequest(t, http.MethodPost, url, body, header)
}

func sendRequest(t *testing.T, method, url, body string, header http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Host = header.Get("Host")
	resp, err := testclient.New(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestSessions_AreRequiredAndEnd(t *testing.T) {
	t.Parallel()
	url := startServer(t, devmcp.Options{}).URL + "/mcp"
	id := postBody(t, url, answerInitialize, nil).Header.Get("Mcp-Session-Id")
	session := http.Header{"Mcp-Session-Id": {id}}
	for i, step := range []struct {
		method, body string
		header       http.Header
		want         int
	}{
		{"POST", list, nil, 400},
		{"POST", list, http.Header{"Mcp-Session-Id": {"unknown"}}, 404},
		{"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session, 202},
		{"POST", list, session, 200},
		{"GET", "", session, 405},
		{"DELETE", "", nil, 400},
		{"DELETE", "", session, 204},
		{"POST", list, session, 404},
		{"DELETE", "", session, 404},
	} {
		if got := sendRequest(t, step.method, url, step.body, step.header).StatusCode; got != step.want {
			t.Errorf("step %d: %s: status %d, want %d", i, step.method, got, step.want)
		}
	}
}

func TestRequests_NotMCPIsRefused(t *testing.T) {
	t.Parallel()
	url := startServer(t, devmcp.Options{}).URL + "/mcp"
	for name, c := range map[string]struct {
		body   string
		header http.Header
		want   int
	}{
		"another content type": {answerInitialize, http.Header{"Content-Type": {"text/plain"}}, 415},
		"only JSON accepted":   {answerInitialize, http.Header{"Accept": {"application/json"}}, 406},
		"anything accepted":    {answerInitialize, http.Header{"Accept": {"*/*"}}, 200},
		"an unknown version":   {answerInitialize, http.Header{"Mcp-Protocol-Version": {"1999-01-01"}}, 400},
		"broken JSON":          {`{"jsonrpc":`, nil, 400},
		"a batch":              {`[` + answerInitialize + `]`, nil, 400},
		"a foreign host":       {answerInitialize, http.Header{"Host": {"evil.example.com"}}, 403},
		"a foreign origin":     {answerInitialize, http.Header{"Origin": {"https://evil.example.com"}}, 403},
		"no origin":            {answerInitialize, http.Header{"Origin": {"null"}}, 403},
		"a local origin":       {answerInitialize, http.Header{"Origin": {"http://localhost:8080"}}, 200},
		"localhost":            {answerInitialize, http.Header{"Host": {"localhost:9090"}}, 200},
		"IPv6 loopback":        {answerInitialize, http.Header{"Host": {"[::1]"}}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := postBody(t, url, c.body, c.header).StatusCode; got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
}

func TestTools_AreServedByteForByte(t *testing.T) {
	t.Parallel()
	url := startServer(t, devmcp.Options{}).URL + "/mcp"
	id := postBody(t, url, answerInitialize, nil).Header.Get("Mcp-Session-Id")
	body, err := io.ReadAll(postBody(t, url, list, http.Header{"Mcp-Session-Id": {id}}).Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9007199254740993", "9223372036854775807", "文書検索", `"taskSupport":"optional"`, `"icons":[`, `["=","!=","<",">"]`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is not in the list", want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for n, wanted := range map[int]int{0: 12, 3: 3, 12: 12, 40: 40} {
		session, err := connectClient(t, startServer(t, devmcp.Options{Mode: "paged", Tools: n}).URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			seen[tool.Name] = true
		}
		page, err := session.ListTools(t.Context(), nil)
		if err != nil || len(seen) != wanted || len(page.Tools) != min(wanted, 5) {
			t.Errorf("%d: %d tools, %d on the first page, error %v", n, len(seen), len(page.Tools), err)
		}
		if _, err := session.ListTools(t.Context(), &sdk.ListToolsParams{Cursor: "nonsense"}); err == nil {
			t.Error("an invented cursor was taken")
		}
	}
}

func TestSlowMode_StopsWhenClientDisconnects(t *testing.T) {
	t.Parallel()
	up := startServer(t, devmcp.Options{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, up.URL+"/slow", strings.NewReader(answerInitialize))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := up.Client().Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("slow was fast")
	}
	// The server's Close at the end of the test waits for every handler.
}

func TestFailingMode(t *testing.T) {
	t.Parallel()
	if got := postBody(t, startServer(t, devmcp.Options{}).URL+"/failing", answerInitialize, nil).StatusCode; got != 500 {
		t.Errorf("status %d, want 500", got)
	}
}

func TestIndex_NamesEveryMode(t *testing.T) {
	t.Parallel()
	up := startServer(t, devmcp.Options{})
	body, err := io.ReadAll(sendRequest(t, http.MethodGet, up.URL+"/", "", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range devmcp.Modes {
		if !strings.Contains(string(body), fmt.Sprintf("%s%s ", up.URL, mode.Path)) {
			t.Errorf("%s is not in\n%s", mode.Path, body)
		}
	}
}

func TestInitialize_NegotiatesVersion(t *testing.T) {
	t.Parallel()
	url := startServer(t, devmcp.Options{}).URL + "/mcp"
	got := map[string]string{}
	for _, asked := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2099-01-01"} {
		var reply struct {
			Result struct{ ProtocolVersion string }
		}
		resp := postBody(t, url, strings.Replace(answerInitialize, "2025-06-18", asked, 1), nil)
		if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
			t.Fatal(err)
		}
		got[asked] = reply.Result.ProtocolVersion
	}
	want := map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"2099-01-01": "2025-11-25",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}
