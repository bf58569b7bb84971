package toolcall

import (
	"bytes"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// What a server of the modern era may ask of a client at once.
const (
	mostQuestions     = 16
	longestQuestions  = 1 << 20 // bytes of the whole request for input
	longestKey        = 256
	longestAskedState = 64 << 10
)

// askable tells whether a request for input may go to a client: it holds questions that there are and that the client says that it answers, few
// and short ones, written in one way alone. Anything else the client could take for something of ours.
func askable(raw []byte, client Client, to connectors.Connector) error {
	failure := func(why string) error {
		return &Refusal{Code: CodeUpstream, Sentence: "The server of \"" + to.Name + "\" " + why}
	}
	if !client.MultiRound {
		return &Refusal{Code: CodeUpstream, Sentence: sentence(&mcp.Error{Reason: mcp.ReasonInput}, to)}
	}
	if len(raw) > longestQuestions || ambiguous(raw) || !json.Valid(raw) || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return failure("asked for input in a way that cannot be read.")
	}
	own, _ := member(raw, "requestState")
	requests, _ := member(raw, "inputRequests")
	var asked map[string]json.RawMessage
	if requests != nil && json.Unmarshal(requests, &asked) != nil || len(asked) > mostQuestions || len(own) > longestAskedState {
		return failure("asked for input in a way that cannot be read.")
	}
	can := abilitiesOf(client.Capabilities)
	for key, request := range asked {
		method, _ := member(request, "method")
		params, _ := member(request, "params")
		if len(key) > longestKey || params != nil && params[0] != '{' || !can.answers(textOf(method), params) {
			return failure("asked for something that the agent's client does not say that it answers.")
		}
	}
	return nil
}

// pinned is the _meta of a call that a person agreed to: what the server may ask meanwhile, and nothing that the client has chosen. What a client
// declares is said in our words.
func pinned(client Client) json.RawMessage {
	can := asked(client.Capabilities)
	if !client.MultiRound || can == "" {
		return nil
	}
	return json.RawMessage(`{"` + revision.MetaCapabilities + `":` + can + `}`)
}
