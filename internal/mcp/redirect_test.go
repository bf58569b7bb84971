package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestRedirect_SameOriginKeepsBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{307, 308} {
		for _, location := range []string{"/elsewhere", "elsewhere?x=1", "SELF/mcp/"} {
			var up *mcptest.Server
			up = mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(2), Bearer: "t", On: map[string]mcptest.Handler{
				"initialize": mcptest.First(1, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
					mcptest.Status(status, "", "Location", strings.Replace(location, "SELF", "http://"+r.Host, 1))(w, r, c)
				}, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) { up.Default(w, r, c) }),
			}})
			_, list, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Header: http.Header{"Authorization": {"Bearer t"}}})
			if err != nil || len(list.Tools) != 2 {
				t.Errorf("%d to %s: %d tools, error %v", status, location, len(list.Tools), err)
				continue
			}
			calls := up.Calls()
			if calls[1].Path == "/mcp" || calls[3].Path != calls[1].Path {
				t.Errorf("%d to %s: paths %s, %s, %s", status, location, calls[0].Path, calls[1].Path, calls[3].Path)
			}
		}
	}
}

func TestRedirect_OtherOriginIsAnError(t *testing.T) {
	t.Parallel()
	const odd = "redirects to a non-HTTP address"
	for name, c := range map[string]struct {
		status   int
		location string
		detail   string
	}{
		"another host":             {307, "https://evil.example.com/steal?secret=1", "redirects to https://evil.example.com"},
		"another port":             {308, "http://127.0.0.1:1/mcp", "redirects to http://127.0.0.1:1"},
		"another scheme and port":  {307, "https://127.0.0.1/mcp", "redirects to https://127.0.0.1"},
		"301 to another host":      {301, "https://evil.example.com/", "redirects to https://evil.example.com"},
		"302 to a sign-in":         {302, "https://login.example.com/?next=/mcp", "redirects to https://login.example.com"},
		"303":                      {303, "https://evil.example.com/", "redirects to https://evil.example.com"},
		"without a location":       {307, "", "redirects to an invalid URL"},
		"javascript":               {307, "javascript:alert(1)", odd},
		"a file":                   {307, "file:///etc/passwd", odd},
		"a hostile host":           {307, "https://<b>hello</b>/", odd},
		"a host in another script": {307, "https://пример.example/", odd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, _, err := syncScript(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{
				"tools/list": mcptest.Status(c.status, "", "Location", c.location),
			}})
			want := errorFacts{Phase: mcp.PhaseList, Reason: mcp.ReasonRedirect, HTTP: c.status, Detail: c.detail}
			if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := len(up.Calls()); got != 4 {
				t.Errorf("%d calls: %v", got, up.Methods())
			}
		})
	}
}

func TestRedirect_UserinfoIsRefused(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			mcptest.Status(307, "", "Location", "http://user:secret@"+r.Host+"/mcp")(w, r, c)
		},
	}})
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonRedirect || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestRedirect_LoopEnds(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(307, "", "Location", "/mcp")}})
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonRedirect || len(up.Calls()) != 4 {
		t.Errorf("%+v after %d calls", f, len(up.Calls()))
	}
}

func TestRedirect_UpgradeToHTTPSIsFollowed(t *testing.T) {
	t.Parallel()
	secure := 0
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Scheme == "http" {
			return response(r, 308, "", "Location", "https://mcp.example.com/mcp"), nil
		}
		secure++
		return response(r, 200, `{"id":1,"result":{"protocolVersion":"2025-11-25"}}`), nil
	})
	d := &mcp.Dialer{HTTP: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
	_, err := d.Dial(t.Context(), mcp.Target{URL: "http://mcp.example.com/mcp", Era: mcp.EraHandshake, Header: http.Header{"Authorization": {"Bearer t"}}})
	if err != nil || secure != 2 {
		t.Errorf("%d requests over https, error %v", secure, err)
	}
}
