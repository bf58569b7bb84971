package toolcall

import (
	"bytes"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// Bounds of an InputRequired result.
const (
	maxInputRequests = 16
	maxInputBytes    = 1 << 20 // of the whole result
	maxInputKey      = 256
	maxInputState    = 64 << 10
)

// checkInputRequest checks that an InputRequired result may go to the client: only declared capabilities,
// bounded, and unambiguous JSON. The client could take anything else for a request of Patchbay.
func checkInputRequest(raw []byte, client Client, connector connectors.Connector) error {
	failure := func(reason string) error {
		return &RefusalError{Code: CodeUpstream, Sentence: "The server of \"" + connector.Name + "\" " + reason}
	}
	if !client.MultiRound {
		return &RefusalError{Code: CodeUpstream, Sentence: errorSentence(&mcp.Error{Reason: mcp.ReasonInput}, connector)}
	}
	if len(raw) > maxInputBytes || isAmbiguous(raw) || !json.Valid(raw) || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return failure("sent an unreadable input request.")
	}
	upstreamState, _ := findMember(raw, "requestState")
	requests, _ := findMember(raw, "inputRequests")
	var byKey map[string]json.RawMessage
	if requests != nil && json.Unmarshal(requests, &byKey) != nil || len(byKey) > maxInputRequests || len(upstreamState) > maxInputState {
		return failure("sent an unreadable input request.")
	}
	caps := parseCapabilities(client.Capabilities)
	for key, request := range byKey {
		method, _ := findMember(request, "method")
		params, _ := findMember(request, "params")
		if len(key) > maxInputKey || params != nil && params[0] != '{' || !caps.canAnswer(parseString(method), params) {
			return failure("requested input that the agent's client doesn't support.")
		}
	}
	return nil
}

// approvedMeta is the _meta of an approved call: the client's normalized capabilities, and nothing else of the
// client.
func approvedMeta(client Client) json.RawMessage {
	caps := normalizeCapabilities(client.Capabilities)
	if !client.MultiRound || caps == "" {
		return nil
	}
	return json.RawMessage(`{"` + revision.MetaCapabilities + `":` + caps + `}`)
}
