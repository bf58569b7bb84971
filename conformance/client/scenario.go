package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// expectedEnd is the expected end of a scenario.
type expectedEnd int

const (
	toolsArrive       expectedEnd = iota // the account is connected, two syncs succeed, and the agent may connect
	refusedAtConnect                     // Patchbay does not redirect to the authorization server
	refusedAtCallback                    // Patchbay refuses the OAuth callback
	syncRefused                          // the server never grants enough scopes, and Patchbay stops asking
)

// testScenario is one scenario of the suite.
type testScenario struct {
	name     string
	auth     map[string]any // of the connector
	expected expectedEnd
	// steps are the agent's actions after listing the tools.
	steps   func(*gatewayAgent, context.Context) error
	context []byte // MCP_CONFORMANCE_CONTEXT
	// identity is that of the suite's identity provider; without a token endpoint there is none.
	identity    suiteIdentity
	workloadJWT string // of the workload that Patchbay runs as; empty: none
}

// scenarioContext is MCP_CONFORMANCE_CONTEXT: credentials from the server's operator.
type scenarioContext struct {
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	PrivateKey       string `json:"private_key_pem"`
	SigningAlgorithm string `json:"signing_algorithm"`
	WorkloadJWT      string `json:"valid_jwt"`
	suiteIdentity
}

func readContext(text string) (scenarioContext, error) {
	var g scenarioContext
	if text == "" {
		return g, nil
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return g, fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	return g, nil
}

// expectedEnds are the ends of scenarios other than toolsArrive.
var expectedEnds = map[string]expectedEnd{
	"auth/resource-mismatch":        refusedAtConnect,
	"auth/metadata-issuer-mismatch": refusedAtConnect,
	"auth/iss-supported-missing":    refusedAtCallback,
	"auth/iss-wrong-issuer":         refusedAtCallback,
	"auth/iss-unexpected":           refusedAtCallback,
	"auth/iss-normalized":           refusedAtCallback,
	"auth/scope-retry-limit":        syncRefused,
}

// findScenario returns the scenario with its context.
func findScenario(name, text string) (testScenario, error) {
	g, err := readContext(text)
	if err != nil {
		return testScenario{}, err
	}
	s := testScenario{
		name: name, auth: newAuth(name, g), expected: expectedEnds[name], steps: agentSteps[name], context: []byte(text),
		identity: g.suiteIdentity, workloadJWT: g.WorkloadJWT,
	}
	if s.steps == nil {
		s.steps = func(*gatewayAgent, context.Context) error { return nil }
	}
	return s, nil
}

func newAuth(name string, g scenarioContext) map[string]any {
	switch {
	case name == "auth/client-credentials-basic":
		return map[string]any{"type": "client_credentials", "client_id": g.ClientID, "client_secret": g.ClientSecret}
	case name == "auth/client-credentials-jwt":
		return map[string]any{
			"type": "private_key_jwt", "client_id": g.ClientID, "private_key": g.PrivateKey, "algorithm": g.SigningAlgorithm,
		}
	case name == "auth/wif-jwt-bearer":
		return map[string]any{"type": "client_credentials", "client_id": g.ClientID, "workload_token": "conformance"}
	case strings.HasPrefix(name, "auth/") && g.ClientID != "":
		return map[string]any{"type": "oauth2", "client_id": g.ClientID, "client_secret": g.ClientSecret}
	case strings.HasPrefix(name, "auth/"):
		return map[string]any{"type": "oauth2"}
	}
	return map[string]any{"type": "none"}
}
