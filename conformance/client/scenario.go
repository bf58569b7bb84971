package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// ending is how a scenario's flow may end.
type ending int

const (
	toolsArrive       ending = iota // the account is connected, a sync succeeds twice, and an agent may come
	refusedAtConnect                // Patchbay sends nobody to the authorization server
	refusedAtCallback               // Patchbay refuses what the browser brings back
	syncRefused                     // the server never grants enough, and Patchbay stops asking
)

// scenario is what the program knows of one.
type scenario struct {
	name string
	auth map[string]any // of the connector
	ends ending
	// play is what the agent does once it knows the tools.
	play  func(*agent, context.Context) error
	given []byte // MCP_CONFORMANCE_CONTEXT
	// hopeless says what Patchbay has not got for it; empty: nothing that it needs is missing.
	hopeless string
}

// given is MCP_CONFORMANCE_CONTEXT: what somebody would have got from the server's operator.
type given struct {
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	PrivateKey       string `json:"private_key_pem"`
	SigningAlgorithm string `json:"signing_algorithm"`
}

func readContext(text string) (given, error) {
	var g given
	if text == "" {
		return g, nil
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return g, fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	return g, nil
}

// endings of the scenarios that must not end with tools.
var endings = map[string]ending{
	"auth/resource-mismatch":        refusedAtConnect,
	"auth/metadata-issuer-mismatch": refusedAtConnect,
	"auth/iss-supported-missing":    refusedAtCallback,
	"auth/iss-wrong-issuer":         refusedAtCallback,
	"auth/iss-unexpected":           refusedAtCallback,
	"auth/iss-normalized":           refusedAtCallback,
	"auth/scope-retry-limit":        syncRefused,
}

// hopeless are those whose way to sign in Patchbay does not offer.
var hopeless = map[string]string{
	"auth/enterprise-managed-authorization": "Patchbay has no enterprise-managed authorization (token exchange for an identity assertion)",
	"auth/wif-jwt-bearer":                   "Patchbay has no JWT-bearer grant (workload identity federation)",
}

// find is the scenario of that name, with what was given for it.
func find(name, text string) (scenario, error) {
	g, err := readContext(text)
	if err != nil {
		return scenario{}, err
	}
	s := scenario{
		name: name, auth: authOf(name, g), ends: endings[name], play: plays[name], given: []byte(text), hopeless: hopeless[name],
	}
	if s.play == nil {
		s.play = func(*agent, context.Context) error { return nil }
	}
	return s, nil
}

func authOf(name string, g given) map[string]any {
	switch {
	case name == "auth/client-credentials-basic":
		return map[string]any{"type": "client_credentials", "client_id": g.ClientID, "client_secret": g.ClientSecret}
	case name == "auth/client-credentials-jwt":
		return map[string]any{
			"type": "private_key_jwt", "client_id": g.ClientID, "private_key": g.PrivateKey, "algorithm": g.SigningAlgorithm,
		}
	case strings.HasPrefix(name, "auth/") && g.ClientID != "":
		return map[string]any{"type": "oauth2", "client_id": g.ClientID, "client_secret": g.ClientSecret}
	case strings.HasPrefix(name, "auth/"):
		return map[string]any{"type": "oauth2"}
	}
	return map[string]any{"type": "none"}
}
