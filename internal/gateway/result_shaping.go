package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/shaping"
	"patchbay/internal/toolcall"
)

// linksSince is the revision that has resource links in results.
const linksSince = "2025-06-18"

// maxWholeAnswer bounds an answer that resources/read returns, in bytes.
const maxWholeAnswer = 1 << 20

// resultReader returns the name of the tool that reads shortened answers at this address; empty: it has none, or none are kept.
func (b *backend) resultReader() string {
	if b.view.Tenant.CallHistory == connectors.HistoryNone {
		return ""
	}
	if b.connector != nil {
		return b.connector.ResultReader()
	}
	return b.view.ResultReader()
}

// shapeAnswer returns the answer as the agent's grant says. All other answers stay byte for byte.
func (b *backend) shapeAnswer(ctx context.Context, r *serve.Request, tool *agentview.Tool, outcome *toolcall.Outcome) json.RawMessage {
	if tool.Shaping.IsZero() {
		return outcome.Raw
	}
	if shaped := b.h.caller.ShapeAnswer(ctx, b.view, tool, outcome, b.newNotice(r, outcome.CallID)); shaped != nil {
		return shaped
	}
	return outcome.Raw
}

// shapeTask is shapeAnswer for the result in an answer about a task.
func (b *backend) shapeTask(ctx context.Context, r *serve.Request, raw json.RawMessage) json.RawMessage {
	hasResult := r.Method == "tasks/result" || r.Peer.Modern && r.Method == "tasks/get"
	if !hasResult || !b.view.Shapes() {
		return raw
	}
	q := toolcall.UpstreamRequest{View: b.view, Connector: b.connector, Method: r.Method, Params: r.Params, Origin: b.origin}
	q.Wait = &b.wait
	notice := func(id connectors.ToolCallID) shaping.Notice { return b.newNotice(r, id) }
	if shaped := b.h.caller.ShapeTask(ctx, q, raw, notice); shaped != nil {
		return shaped
	}
	return raw
}

// newNotice says how the client reads the whole answer of a call.
func (b *backend) newNotice(r *serve.Request, id connectors.ToolCallID) shaping.Notice {
	n := shaping.Notice{ID: id.String(), Tool: b.resultReader()}
	if r.Peer.Version >= linksSince {
		n.URI = toolcall.ResultScheme + n.ID
	}
	return n
}

// readAnswer serves the tool that reads shortened answers.
func (b *backend) readAnswer(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	var in struct {
		ID      string  `json:"id"`
		Part    string  `json:"part"`
		JQ      string  `json:"jq"`
		Grep    string  `json:"grep"`
		Context integer `json:"context"`
		Offset  integer `json:"offset"`
		Line    integer `json:"line"`
		Limit   integer `json:"limit"`
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Arguments))
	decoder.DisallowUnknownFields()
	if len(r.Arguments) == 0 || decoder.Decode(&in) != nil {
		return newRefusalResult(newMismatchError("The arguments don't match the tool's input schema."), noPageURL)
	}
	page, err := b.h.caller.ReadAnswer(ctx, b.newReadRequest(strings.TrimPrefix(in.ID, toolcall.ResultScheme), r.Arguments), shaping.ReadRequest{
		Part: in.Part, JQ: in.JQ, Grep: in.Grep, Context: int(in.Context), Offset: int(in.Offset), Line: int(in.Line), Limit: int(in.Limit),
	})
	if err != nil {
		return newRefusalResult(err, b.askURL)
	}
	return json.Marshal(struct {
		Content []textContent `json:"content"`
	}{[]textContent{{Type: "text", Text: page.Text}, {Type: "text", Text: page.Footer()}}})
}

// integer is an integer as JSON Schema knows it: 10, 10.0 or 1e1.
type integer int

// UnmarshalJSON implements [json.Unmarshaler].
func (n *integer) UnmarshalJSON(raw []byte) error {
	var number float64
	if err := json.Unmarshal(raw, &number); err != nil {
		return err
	}
	const bound = 1 << 53
	if number != math.Trunc(number) || number < -bound || number > bound {
		return fmt.Errorf("%s is no integer", raw)
	}
	*n = integer(number)
	return nil
}

func (b *backend) newReadRequest(id string, arguments json.RawMessage) toolcall.ReadRequest {
	return toolcall.ReadRequest{View: b.view, Connector: b.connector, ID: id, Arguments: arguments, Token: &b.token.ID, Origin: b.origin, Wait: &b.wait}
}

// readWholeAnswer serves resources/read for the link of a shortened answer. false: the URI is none. No server is asked for one.
func (b *backend) readWholeAnswer(ctx context.Context, r *serve.Request) (raw json.RawMessage, isAnswer bool, err error) {
	id, found := strings.CutPrefix(r.Name, toolcall.ResultScheme)
	if !found {
		return nil, false, nil
	}
	arguments, err := json.Marshal(map[string]string{"uri": r.Name})
	if err != nil {
		return nil, true, err
	}
	answer, err := b.h.caller.KeptAnswer(ctx, b.newReadRequest(id, arguments), maxWholeAnswer)
	if errors.Is(err, toolcall.ErrLongAnswer) {
		return nil, true, serve.InvalidParams(fmt.Sprintf("The answer is longer than %d MB. Read it with %s, id %q.", maxWholeAnswer>>20, cmp.Or(b.resultReader(), "read_result"), id))
	}
	if err != nil {
		return nil, true, newReadError(r, err, b.askURL)
	}
	contents := map[string]string{"uri": r.Name, "mimeType": "application/json", "text": string(answer)}
	raw, err = json.Marshal(map[string]any{"contents": []any{contents}})
	return raw, true, err
}
