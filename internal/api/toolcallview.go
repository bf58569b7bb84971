package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
)

// toolCallJSON is one call of an agent.
type toolCallJSON struct {
	ID                string             `json:"id" format:"uuid"`
	AgentID           *string            `json:"agent_id" format:"uuid" doc:"Null: the agent was deleted, or an admin sent it for none."`
	Agent             string             `json:"agent" doc:"The agent's slug at the time."`
	ConnectorID       *string            `json:"connector_id" format:"uuid" doc:"Null: the connector was deleted."`
	Connector         string             `json:"connector" doc:"The connector's slug at the time."`
	Kind              string             `json:"kind" enum:"tool,prompt,resource,completion,method" doc:"method: a request or notification outside MCP."`
	Tool              string             `json:"tool" doc:"The name that agents see."`
	Name              string             `json:"name" doc:"The server's own name for it."`
	Source            string             `json:"source" enum:"gateway,api,dashboard" doc:"Where the call came in."`
	Caller            string             `json:"caller" doc:"Who called for the agent, where a person or a key did."`
	Address           *string            `json:"address" doc:"Where the request came from that began the call, as the audit log has it; null: not known, as of calls of before it was kept."`
	RequestID         *string            `json:"request_id" doc:"Of that request, as its answer's X-Request-Id and the log have it; null: not known."`
	TokenID           *string            `json:"token_id" format:"uuid" doc:"The token with which the agent came."`
	CredentialID      *string            `json:"credential_id" format:"uuid" doc:"Whose credential went along."`
	DefinitionHash    *string            `json:"definition_hash" doc:"The version of the tool's definition."`
	Arguments         json.RawMessage    `json:"arguments" doc:"As the tenant's call_history says; null where they are not kept, and in lists where they are long."`
	Status            string             `json:"status" enum:"pending_approval,running,success,error,denied,cancelled"`
	Outcome           string             `json:"outcome" enum:",ok,tool_error,rpc_error,transport,refused,denied,cancelled,lost" doc:"What kind of end it was; empty: none yet."`
	ApprovedBy        string             `json:"approved_by" doc:"The person who approved or denied it; empty: no approval was needed."`
	StartedAt         time.Time          `json:"started_at"`
	CompletedAt       *time.Time         `json:"completed_at" doc:"Null: it has not ended."`
	DurationMS        int64              `json:"duration_ms" doc:"Until now, where it has not ended."`
	Content           json.RawMessage    `json:"content" doc:"The result's content, as the server sent it; null in lists, and where none is kept. So are the next two."`
	StructuredContent json.RawMessage    `json:"structured_content"`
	Task              json.RawMessage    `json:"task" doc:"The last state of the task that the server made of the call."`
	Progress          *progressJSON      `json:"progress" doc:"The last that the server said of how far it is, a second late; null: nothing. A call by the gateway asks for it where the agent's client does."`
	Formatted         json.RawMessage    `json:"formatted,omitempty" doc:"With format only. text: its texts and structured content as one string; openai: a message of role tool; anthropic: a tool_result block; google: a functionResponse part. A call that failed before its tool ran has the error's message. Missing: the call has not ended, or its result is not shown."`
	IsError           bool               `json:"is_error" doc:"The tool says that it failed."`
	StructuredValid   *bool              `json:"structured_valid" doc:"Whether structured_content fits the tool's output schema; null: not checked, as where there is no such schema, the tool says that it failed, or the schema is too costly."`
	StructuredError   *string            `json:"structured_error" doc:"Why it does not fit; null: it fits, or was not checked."`
	Error             *toolCallErrorJSON `json:"error" doc:"Why there is no result; null: there is one, or none yet. invalid_result: there is one, which refuse_invalid_results withheld from the agent."`
	Upstream          *upstreamSaidJSON  `json:"upstream" doc:"What the server said when the call failed; null: nothing, and in lists. said is empty where the tenant's call_history keeps no contents, and where bodies are withheld."`
	Bodies            string             `json:"bodies" enum:"shown,withheld" doc:"withheld: arguments, content, structured_content, and the words of task and progress are for the tenant's auditors alone, and omitted here; shown: what is stored of them is here."`
	Truncated         bool               `json:"truncated" doc:"The history kept a part: 200000 bytes at most."`
	RequestBytes      int64              `json:"request_bytes" doc:"Of the arguments."`
	ResponseBytes     int64              `json:"response_bytes" doc:"Of the result."`
}

type progressJSON struct {
	Progress *float64 `json:"progress" doc:"What is done, in the server's count; null: it gave none."`
	Total    *float64 `json:"total" doc:"What there is to do; null: not known."`
	Message  string   `json:"message" doc:"The server's words, as the tenant's call_history says."`
}

type toolCallErrorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// TransformSchema implements huma.SchemaTransformer.
func (toolCallJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "error", "progress", "upstream")
}

// storedPrecision is the database's precision of times. A new call is shown as it will be read.
const storedPrecision = time.Microsecond

func viewToolCall(c connectors.ToolCall) toolCallJSON {
	out := toolCallJSON{
		ID:                c.ID.String(),
		AgentID:           idText(c.AgentID),
		Agent:             c.AgentSlug,
		ConnectorID:       idText(c.ConnectorID),
		Connector:         c.ConnectorSlug,
		Kind:              string(c.Kind),
		Tool:              c.ExposedName,
		Name:              c.Tool,
		Source:            string(c.Source),
		Caller:            c.Caller,
		Address:           textOrNull(c.From()),
		RequestID:         textOrNull(c.RequestID),
		TokenID:           idText(c.TokenID),
		CredentialID:      idText(c.CredentialID),
		DefinitionHash:    idText(c.Definition),
		Arguments:         storedJSON(c.Arguments),
		Status:            string(c.Status),
		Outcome:           string(c.Outcome),
		ApprovedBy:        c.ApprovedBy,
		StartedAt:         c.StartedAt.UTC().Truncate(storedPrecision),
		DurationMS:        c.Duration.Milliseconds(),
		Content:           storedJSON(c.Content),
		StructuredContent: storedJSON(c.Structured),
		Task:              storedJSON(c.Task),
		IsError:           c.IsError,
		Upstream:          viewUpstreamSaid(c.Upstream),
		Bodies:            bodiesState(c),
		Truncated:         c.Truncated,
		RequestBytes:      c.RequestBytes,
		ResponseBytes:     c.ResponseBytes,
	}
	if c.CompletedAt != nil {
		completedAt := c.CompletedAt.UTC().Truncate(storedPrecision)
		out.CompletedAt = &completedAt
	}
	if p := c.Progress; p != nil {
		out.Progress = &progressJSON{Progress: p.Done, Message: p.Message}
		if p.Total > 0 {
			out.Progress.Total = &p.Total
		}
	}
	out.StructuredValid, out.StructuredError = c.StructuredValid, textOrNull(c.StructuredError)
	if c.ErrorCode != "" {
		out.Error = &toolCallErrorJSON{Code: c.ErrorCode, Message: c.ErrorMessage}
	}
	return out
}

func bodiesState(c connectors.ToolCall) string {
	if c.Withheld {
		return "withheld"
	}
	return "shown"
}

// storedJSON is a stored part of a call, as JSON. A truncated value becomes a string.
func storedJSON(raw []byte) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return nil
	}
	return text
}
