package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

const upstream = "http://localhost:9/mcp"

// runWithStub runs the program for a scenario against the stub.
func runWithStub(t *testing.T, s *stubServer, scenario, given string) (output string, err error) {
	t.Helper()
	env := map[string]string{
		"MCP_CONFORMANCE_SCENARIO": scenario, "MCP_CONFORMANCE_CONTEXT": given,
		"PATCHBAY_URL": s.URL, "PATCHBAY_KEY": "the-key",
	}
	var out strings.Builder
	err = run(t.Context(), []string{upstream}, func(name string) string { return env[name] }, &out)
	return out.String(), err
}

func TestConnect_ByBrowser(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	said, err := runWithStub(t, s, "auth/metadata-default", "")
	if err != nil || s.connected != 1 {
		t.Fatalf("connected %d times: %v", s.connected, err)
	}
	if want := "connected: Connected 'X'.\nsynced 1 tools\nsynced 1 tools\nthe agent sees 2 tools\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	if made := s.connectors[0]; made["url"] != upstream || made["auth"].(map[string]any)["type"] != "oauth2" {
		t.Errorf("the connector is %v", made)
	}
}

func TestContext_ConfiguresConnector(t *testing.T) {
	t.Parallel()
	for scenario, tc := range map[string]struct {
		given string
		want  map[string]any
	}{
		"tools_list":            {"", map[string]any{"type": "none"}},
		"auth/pre-registration": {`{"client_id": "c", "client_secret": "s", "issuer": "i"}`, map[string]any{"type": "oauth2", "client_id": "c", "client_secret": "s"}},
		"auth/client-credentials-basic": {
			`{"client_id": "c", "client_secret": "s"}`, map[string]any{"type": "client_credentials", "client_id": "c", "client_secret": "s"},
		},
		"auth/client-credentials-jwt": {
			`{"client_id": "c", "private_key_pem": "k", "signing_algorithm": "ES256"}`,
			map[string]any{"type": "private_key_jwt", "client_id": "c", "private_key": "k", "algorithm": "ES256"},
		},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			if _, err := runWithStub(t, s, scenario, tc.given); err != nil {
				t.Fatal(err)
			}
			have := s.connectors[0]["auth"].(map[string]any)
			if len(have) != len(tc.want) {
				t.Errorf("auth is %v, want %v", have, tc.want)
			}
			for name, value := range tc.want {
				if have[name] != value {
					t.Errorf("%s is %v, want %v", name, have[name], value)
				}
			}
		})
	}
}

func TestSync_FollowsReconnectLink(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	fine := stubAnswer{http.StatusOK, `{"tools_total": 1}`}
	s.syncs = []stubAnswer{fine, s.nextAnswer(), fine}
	if _, err := runWithStub(t, s, "auth/authorization-server-migration", ""); err != nil || s.connected != 2 {
		t.Errorf("connected %d times: %v", s.connected, err)
	}
}

func TestSync_EndlessReconnectsFail(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.syncs = []stubAnswer{s.nextAnswer()}
	for _, scenario := range []string{"auth/metadata-default", "auth/scope-retry-limit"} {
		if _, err := runWithStub(t, s, scenario, ""); err == nil || !strings.Contains(err.Error(), "still asks") {
			t.Errorf("%s: %v", scenario, err)
		}
	}
}

func TestScenario_ExpectedRefusal(t *testing.T) {
	t.Parallel()
	steps := []string{"connect", "page", "accept", "callback"}
	for scenario, right := range map[string][]string{
		"auth/resource-mismatch":        {"connect", "page", "accept"},
		"auth/metadata-issuer-mismatch": {"connect", "page", "accept"},
		"auth/iss-wrong-issuer":         {"callback"},
		"auth/iss-supported-missing":    {"callback"},
		"auth/metadata-default":         {},
	} {
		for _, step := range steps {
			t.Run(scenario+" at "+step, func(t *testing.T) {
				t.Parallel()
				s := newStub(t)
				s.refuse = map[string]int{step: http.StatusBadRequest}
				_, err := runWithStub(t, s, scenario, "")
				if want := slices.Contains(right, step); want != (err == nil) {
					t.Errorf("the right end: %t, and the program says %v", want, err)
				}
			})
		}
	}
}

func TestScenario_ServerErrorIsNoRefusal(t *testing.T) {
	t.Parallel()
	for scenario, step := range map[string]string{"auth/resource-mismatch": "accept", "auth/iss-unexpected": "callback"} {
		s := newStub(t)
		s.refuse = map[string]int{step: http.StatusInternalServerError}
		if _, err := runWithStub(t, s, scenario, ""); err == nil {
			t.Errorf("%s: a 500 passes for a refusal", scenario)
		}
	}
}

func TestScenario_UnexpectedConnectionFails(t *testing.T) {
	t.Parallel()
	if _, err := runWithStub(t, newStub(t), "auth/iss-normalized", ""); err == nil || !strings.Contains(err.Error(), "must not have been") {
		t.Error(err)
	}
}

func TestSync_MissingScopesStopRetries(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.syncs = []stubAnswer{s.nextAnswer(), s.nextAnswer(), {http.StatusConflict, `{"detail": "It refuses for good."}`}}
	said, err := runWithStub(t, s, "auth/scope-retry-limit", "")
	if err != nil || s.connected != 3 || !strings.Contains(said, "It refuses for good.") {
		t.Errorf("connected %d times: %v: %s", s.connected, err, said)
	}
}

func TestScenario_WorkloadTokenIsNamed(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	if _, err := runWithStub(t, s, "auth/wif-jwt-bearer", `{"client_id":"workload"}`); err != nil {
		t.Fatal(err)
	}
	if auth := s.connectors[0]["auth"].(map[string]any); auth["workload_token"] != "conformance" || auth["client_id"] != "workload" {
		t.Errorf("the connector has %v", auth)
	}
}

func TestAgent_CallsTools(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string][]string{
		"tools_list": nil,
		"tools_call": {`first {"a":2}`, `second {}`},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			said, err := runWithStub(t, s, scenario, "")
			if err != nil || !slices.Equal(s.called, want) || !strings.Contains(said, "the agent sees 2 tools") {
				t.Errorf("%v: %q: %s", err, s.called, said)
			}
		})
	}
}

func TestAgent_MakesCallsOfContext(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	_, err := runWithStub(t, s, "http-custom-headers", `{"toolCalls": [{"name": "second", "arguments": {"n": 1.50}}]}`)
	if err != nil || !slices.Equal(s.called, []string{`second {"n":1.50}`}) {
		t.Errorf("%v: %q", err, s.called)
	}
}

func TestAgent_ReconnectsAfterRefusedCall(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.wants = 2
	if _, err := runWithStub(t, s, "auth/scope-step-up", ""); err != nil || s.connected != 3 || len(s.called) != 2 {
		t.Errorf("connected %d times, called %q: %v", s.connected, s.called, err)
	}
	s.wants = 1000
	if _, err := runWithStub(t, s, "auth/scope-step-up", ""); err == nil || !strings.Contains(err.Error(), "still asks") {
		t.Error(err)
	}
}

func TestProblem_Error(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.syncs = []stubAnswer{{http.StatusUnprocessableEntity, `{"detail": "No.", "errors": [{"location": "url", "message": "blocked"}]}`}}
	_, err := runWithStub(t, s, "initialize", "")
	if want := "initialize: sync: 422 No. (url: blocked)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
