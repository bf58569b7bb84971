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
	AgentID           *string            `json:"agent_id" format:"uuid" doc:"Null if the agent was deleted, or an admin called without one."`
	Agent             string             `json:"agent" doc:"The agent's slug at the time."`
	ConnectorID       *string            `json:"connector_id" format:"uuid" doc:"Null if the connector was deleted."`
	Connector         string             `json:"connector" doc:"The connector's slug at the time."`
	Kind              string             `json:"kind" enum:"tool,prompt,resource,completion,method" doc:"method: a request or notification outside MCP."`
	Tool              string             `json:"tool" doc:"The exposed name."`
	Name              string             `json:"name" doc:"The server's name for it."`
	Source            string             `json:"source" enum:"gateway,api,dashboard" doc:"Where the call was made."`
	Caller            string             `json:"caller" doc:"The person or API key that called for the agent."`
	Address           *string            `json:"address" doc:"Client address of the request that started the call. Null if unknown, as for older calls."`
	RequestID         *string            `json:"request_id" doc:"Id of that request, as in X-Request-Id and the log. Null if unknown."`
	TokenID           *string            `json:"token_id" format:"uuid" doc:"The agent's token."`
	CredentialID      *string            `json:"credential_id" format:"uuid" doc:"The credential used."`
	Account           *string            `json:"account" doc:"The account at the server. Null if unknown, replaced since, another member's, and in lists."`
	DefinitionHash    *string            `json:"definition_hash" doc:"The tool definition's hash."`
	Arguments         json.RawMessage    `json:"arguments" doc:"As the tenant's call_history allows. Null if not kept, and in lists if long."`
	Status            string             `json:"status" enum:"pending_approval,running,success,error,denied,cancelled"`
	Outcome           string             `json:"outcome" enum:",ok,tool_error,rpc_error,transport,refused,denied,cancelled,lost" doc:"How it ended. Empty if it has not."`
	ApprovedBy        string             `json:"approved_by" doc:"Who approved or denied it. Empty if no approval was needed."`
	StartedAt         time.Time          `json:"started_at"`
	CompletedAt       *time.Time         `json:"completed_at" doc:"Null until it ends."`
	DurationMS        int64              `json:"duration_ms" doc:"Up to now while it runs. Includes approval_wait_ms."`
	ApprovalWaitMS    *int64             `json:"approval_wait_ms" doc:"Part of duration_ms before the decision of a person. Null if it did not wait, or is not decided yet."`
	Content           json.RawMessage    `json:"content" doc:"The result's content as the server sent it. Null if not kept, and in lists, as are the next two fields."`
	StructuredContent json.RawMessage    `json:"structured_content"`
	Task              json.RawMessage    `json:"task" doc:"Last state of the server's task for the call."`
	Progress          *progressJSON      `json:"progress" doc:"The server's last progress, up to a second late. Null if none. Gateway calls have it if the agent's client asks for it."`
	Formatted         json.RawMessage    `json:"formatted,omitempty" doc:"Only with format. text: text and structured content as one string; openai: a message with role tool; anthropic: a tool_result block; google: a functionResponse part. Calls that failed before the tool ran have the error message. Absent until the call ends, and if its result is hidden."`
	IsError           bool               `json:"is_error" doc:"Whether the tool reported an error."`
	StructuredValid   *bool              `json:"structured_valid" doc:"Whether structured_content matches the output schema. Null if not checked: no schema, one too costly to check, or a tool error."`
	StructuredError   *string            `json:"structured_error" doc:"Why it does not match. Null if it does or was not checked."`
	Error             *toolCallErrorJSON `json:"error" doc:"Why there is no result. Null if there is one, or none yet. invalid_result: refuse_invalid_results withheld the result from the agent."`
	Upstream          *upstreamSaidJSON  `json:"upstream" doc:"What the server said if the call failed, or the tool if it reported an error. Null if nothing. said is empty if call_history keeps no content or bodies are withheld."`
	Bodies            string             `json:"bodies" enum:"shown,withheld" doc:"withheld: arguments, content, structured_content and texts of task and progress are omitted, readable by auditors only. shown: what is stored is included."`
	Truncated         bool               `json:"truncated" doc:"Whether only part is kept: at most 200000 bytes."`
	RequestBytes      int64              `json:"request_bytes" doc:"Size of the arguments."`
	ResponseBytes     int64              `json:"response_bytes" doc:"Size of the result."`
	NewSession        bool               `json:"new_session" doc:"Whether the server had ended the session, so that the call was repeated in a new one. false in lists."`
}

type progressJSON struct {
	Progress *float64 `json:"progress" doc:"Progress in the server's units. Null if not stated."`
	Total    *float64 `json:"total" doc:"Total in the same units. Null if unknown."`
	Message  string   `json:"message" doc:"The server's message, as the tenant's call_history allows."`
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
		Account:           textOrNull(c.Account.Label),
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
		NewSession:        c.Upstream != nil && c.Upstream.NewSession,
		Bodies:            bodiesState(c),
		Truncated:         c.Truncated,
		RequestBytes:      c.RequestBytes,
		ResponseBytes:     c.ResponseBytes,
	}
	if c.Waited > 0 {
		out.ApprovalWaitMS = new(c.Waited.Milliseconds())
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
