package api

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

// shapingJSON says how answers of a tool are shortened for an agent.
type shapingJSON struct {
	Fields string `json:"fields,omitempty" maxLength:"4096" doc:"A jq filter that chooses fields of answers in JSON. Absent: all fields."`
	Budget int    `json:"budget,omitempty" doc:"Estimated tokens of an answer. 0 or absent: no bound."`
}

func (s shapingJSON) toShaping() connectors.Shaping {
	return connectors.Shaping{Fields: s.Fields, Budget: s.Budget}
}

// toolShapingJSON is the rule of one tool of a grant.
type toolShapingJSON struct {
	Tool   string `json:"tool" doc:"The server's name for the tool."`
	Fields string `json:"fields,omitempty" doc:"A jq filter that chooses fields of answers in JSON. Absent: all fields."`
	Budget int    `json:"budget,omitempty" doc:"Estimated tokens of an answer. Absent: no bound."`
}

func viewShaping(rules map[string]connectors.Shaping) []toolShapingJSON {
	list := make([]toolShapingJSON, 0, len(rules))
	for _, tool := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, toolShapingJSON{Tool: tool, Fields: rules[tool].Fields, Budget: rules[tool].Budget})
	}
	return list
}

// shapedAnswerJSON is a recorded answer under a rule.
type shapedAnswerJSON struct {
	CallID       string `json:"call_id" format:"uuid"`
	Shortened    bool   `json:"shortened"`
	TokensBefore int    `json:"tokens_before" doc:"Estimated."`
	TokensAfter  int    `json:"tokens_after" doc:"Estimated."`
	Summary      string `json:"summary" doc:"What is left out; empty: nothing."`
}

type shapingAdviceJSON struct {
	Field   string `json:"field" doc:"A jq path."`
	Percent int    `json:"percent" doc:"Its share of the answers, in bytes."`
	Fields  string `json:"fields" doc:"The filter that leaves it out."`
}

type shapingPreviewJSON struct {
	Answers []shapedAnswerJSON  `json:"answers" nullable:"false" doc:"The last answers in the call history, newest first. Empty where results are for auditors only."`
	Advice  []shapingAdviceJSON `json:"advice" nullable:"false" doc:"The largest fields of these answers."`
}

// AgentShapingPath is the path of a tool of an agent's grant.
type AgentShapingPath struct {
	AgentGrantPath
	Tool string `path:"tool" doc:"The server's name for the tool."`
}

func (p AgentShapingPath) toRef() manage.ShapingRef {
	return manage.ShapingRef{Agent: p.ref(), Connector: connectors.Ref(p.Connector), Tool: p.Tool}
}

type putShapingInput struct {
	AgentShapingPath
	JSON requestBody[shapingJSON]
}

func (h *Handler) mountAgentShaping() {
	const tag, path = "Agents", "/api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping"
	registerOperation(h, operation{
		method: http.MethodPut, path: path, id: "setAgentShaping", tag: tag,
		summary: "Shorten a tool's answers for an agent", permission: connectors.PermManage,
		description: "Of a long answer the agent gets the first rows or lines, a sentence about what is left out, and the tool read_result, which reads the rest for 24 hours. Applies to MCP; calls of the API return whole answers. Needs a call history that keeps results. Whole answers are stored encrypted for these 24 hours, as the agent would have got them, even where the call history redacts them. Choosing fields protects none: the agent can read what is left out.",
	}, h.putAgentShaping)
	registerOperation(h, operation{
		method: http.MethodDelete, path: path, id: "clearAgentShaping", tag: tag,
		summary: "Stop shortening a tool's answers", permission: connectors.PermManage,
	}, h.clearAgentShaping)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/preview", id: "previewAgentShaping", tag: tag,
		summary: "Preview shorter answers", permission: connectors.PermRead,
		description: "Applies a rule to the last answers in the call history. It changes nothing.",
	}, h.previewAgentShaping)
}

func (h *Handler) putAgentShaping(ctx context.Context, actor auth.Actor, in *putShapingInput) (*noContent, error) {
	if err := h.requireBothExist(ctx, actor, in.AgentGrantPath); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	return nil, h.registry.SetShaping(ctx, actor, in.toRef(), doc.toShaping())
}

func (h *Handler) clearAgentShaping(ctx context.Context, actor auth.Actor, in *AgentShapingPath) (*noContent, error) {
	return nil, h.registry.SetShaping(ctx, actor, in.toRef(), connectors.Shaping{})
}

func (h *Handler) previewAgentShaping(ctx context.Context, actor auth.Actor, in *putShapingInput) (*response[shapingPreviewJSON], error) {
	if err := h.requireBothExist(ctx, actor, in.AgentGrantPath); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	rule := doc.toShaping()
	p, err := h.registry.PreviewShaping(ctx, actor, in.toRef(), &rule)
	if err != nil {
		return nil, err
	}
	out := shapingPreviewJSON{Answers: make([]shapedAnswerJSON, len(p.Answers)), Advice: make([]shapingAdviceJSON, len(p.Advice))}
	for i, a := range p.Answers {
		out.Answers[i] = shapedAnswerJSON{CallID: a.Call.String(), Shortened: a.Shaped, TokensBefore: a.Before, TokensAfter: a.After, Summary: a.Summary}
	}
	for i, a := range p.Advice {
		out.Advice[i] = shapingAdviceJSON{Field: a.Field, Percent: a.Percent, Fields: a.Fields}
	}
	return &response[shapingPreviewJSON]{Body: out}, nil
}
