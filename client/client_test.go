package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
)

// handlerFunc is a transport without a network, so that synctest's time stands still.
type handlerFunc func(w http.ResponseWriter, r *http.Request)

func (s handlerFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	s(rec, r)
	answer := rec.Result()
	answer.Request = r
	return answer, nil
}

func newTestClient(t *testing.T, answer handlerFunc) *client.Client {
	t.Helper()
	c, err := client.New("https://patchbay.example.com/", "pb_key_x", client.WithHTTPClient(&http.Client{Transport: answer}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRetry_WaitsForRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked < 3 {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, _ = w.Write([]byte(`{"slug":"acme"}`))
		})
		began := time.Now()
		tenant, err := c.GetTenant(t.Context())
		if err != nil || tenant.Slug != "acme" || asked != 3 || time.Since(began) != 14*time.Second {
			t.Errorf("%+v, %v; asked %d times in %v", tenant, err, asked, time.Since(began))
		}
	})
}

func TestRetry_StopsAfterFourAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := c.GetTenant(t.Context())
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != http.StatusTooManyRequests || asked != 4 {
			t.Errorf("%v; asked %d times", err, asked)
		}
	})
}

func TestRetry_NotAfterUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		asked := 0
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(status)
		})
		if _, err := c.CallTool(t.Context(), "agent", client.CallToolQuery{}, client.ToolCallCreate{Tool: "pay"}); err == nil || asked != 1 {
			t.Errorf("%d: %v; asked %d times", status, err, asked)
		}
	}
}

// A proxy's page is not taken for the API's response and not printed.
func TestProblem_ForeignResponse(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]handlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<h1>\x1b[31mproxy"))
		},
		"a page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<h1>\x1b[31mproxy")) },
	} {
		_, err := newTestClient(t, answer).GetTenant(t.Context())
		if err == nil || !strings.Contains(err.Error(), "patchbay.example.com") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedirect_IsNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	for _, options := range [][]client.Option{nil, {client.WithHTTPClient(first.Client())}} {
		c, err := client.New(first.URL, "pb_key_x", options...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetTenant(t.Context()); err == nil || elsewhere.Load() != 0 {
			t.Errorf("%v; %d requests arrived elsewhere", err, elsewhere.Load())
		}
	}
}

func TestPath_EscapesName(t *testing.T) {
	t.Parallel()
	var path string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		_, _ = w.Write([]byte(`{}`))
	})
	if _, err := c.AcceptTool(t.Context(), "linear", "../admin?x=1#y/z", client.ToolVerdict{}); err != nil {
		t.Fatal(err)
	}
	if want := "/api/v1/connectors/linear/tools/..%2Fadmin%3Fx=1%23y%2Fz/accept"; path != want {
		t.Errorf("%s, want %s", path, want)
	}
}

func TestNew_ValidatesAddressAndKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, key string }{
		{"", "k"}, {"patchbay.example.com", "k"}, {"ftp://patchbay.example.com", "k"}, {"https://a:b@patchbay.example.com", "k"},
		{"https://patchbay.example.com?x=1", "k"}, {"https://patchbay.example.com", ""}, {"https://patchbay.example.com", "k\r\nX: y"},
	} {
		if _, err := client.New(c.address, c.key); err == nil {
			t.Errorf("%q with the key %q is taken", c.address, c.key)
		}
	}
}

func TestPatch_OmitsUnsetSendsEmpty(t *testing.T) {
	t.Parallel()
	sent, err := json.Marshal(client.WebhookPatch{Enabled: new(false), Kinds: []string{}})
	if err != nil || string(sent) != `{"enabled":false,"kinds":[]}` {
		t.Errorf("%s, %v", sent, err)
	}
}

func TestChoices_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"all"`, `[]`, `["a","b"]`} {
		var s client.ToolSet
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(s); err != nil || string(again) != text {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	}
	var listed []client.ListedTool
	if err := json.Unmarshal([]byte(`[{"name":"a"},{"name":null,"reason":"no name","raw":null}]`), &listed); err != nil {
		t.Fatal(err)
	}
	if listed[0].Tool == nil || listed[0].Quarantined != nil || listed[1].Tool != nil || listed[1].Quarantined.Reason != "no name" {
		t.Error(cmp.Diff(nil, listed))
	}
}

func TestCredential_AccountMayBeLeftOut(t *testing.T) {
	t.Parallel()
	var got []string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.RequestURI())
		w.WriteHeader(http.StatusNoContent)
	})
	in := client.SecretPut{}
	err := errors.Join(
		c.SetCredential(t.Context(), "crm", in), c.SetAgentCredential(t.Context(), "crm", "bot", in),
		c.DeleteCredential(t.Context(), "crm"), c.DeleteAgentCredential(t.Context(), "crm", "bot"),
		c.SetCredential(t.Context(), "crm", in, client.SetCredentialQuery{Account: "work"}),
		c.DeleteAgentCredential(t.Context(), "crm", "bot", client.DeleteAgentCredentialQuery{Account: "work"}),
	)
	const path = "/api/v1/connectors/crm/"
	want := []string{
		"PUT " + path + "credential", "PUT " + path + "agents/bot/credential", "DELETE " + path + "credential", "DELETE " + path + "agents/bot/credential",
		"PUT " + path + "credential?account=work", "DELETE " + path + "agents/bot/credential?account=work",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
