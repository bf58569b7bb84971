package api

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
)

// toolJSON is a tool of a connector. Upstream values keep their spelling.
type toolJSON struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema" doc:"As the server sent it. Null if absent, as are the next four."`
	OutputSchema json.RawMessage `json:"output_schema"`
	Annotations  json.RawMessage `json:"annotations"`
	Icons        json.RawMessage `json:"icons"`
	Meta         json.RawMessage `json:"meta"`
	ConnectorID  string          `json:"connector_id" format:"uuid"`
	ExposedName  string          `json:"exposed_name" doc:"The exposed name."`
	Hash         string          `json:"hash" doc:"SHA-256 of the definition as sent, in hex."`
	Enabled      bool            `json:"enabled"`
	Alias        string          `json:"alias" doc:"An admin's name for agents, before the connector's prefix. Empty: the server's."`
	AgentText    string          `json:"agent_description" doc:"An admin's description for agents. Empty: the server's."`
	Tags         []string        `json:"tags" nullable:"false"`
	PerMinute    int             `json:"calls_per_minute" doc:"For all agents together. 0: no limit."`
	PerDay       int             `json:"calls_per_day" doc:"Likewise, per UTC day."`
	Review       string          `json:"review" enum:"accepted,changed,new,rejected,kept" doc:"kept: agents are served an earlier definition by decision."`
	FirstSeenAt  time.Time       `json:"first_seen_at"`
	LastSeenAt   time.Time       `json:"last_seen_at"`
	ChangedAt    time.Time       `json:"changed_at"`
	RemovedAt    *time.Time      `json:"removed_at" doc:"Null if not removed."`
	Notes        []string        `json:"notes,omitempty" nullable:"false" doc:"Optional fields ignored because of a wrong type."`
}

// quarantinedToolJSON is a malformed entry of a tool list.
type quarantinedToolJSON struct {
	Name   *string         `json:"name" doc:"Null if not readable."`
	Reason string          `json:"reason"`
	Raw    json.RawMessage `json:"raw" doc:"The entry as the server sent it."`
}

// toolListJSON is a page of tools, or of quarantined entries if requested.
type toolListJSON struct {
	Items      []any   `json:"items" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"Pass it as cursor for the next page. Null on the last page."`
}

// TransformSchema implements huma.SchemaTransformer.
func (toolListJSON) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["items"].Items = &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[toolJSON](), true, ""),
		r.Schema(reflect.TypeFor[quarantinedToolJSON](), true, ""),
	}}
	return s
}

func viewTool(t connectors.Tool, exposedName string) toolJSON {
	def := connectors.DecodeTool(t.Raw)
	return toolJSON{
		Name:         t.Name,
		Title:        def.Title,
		Description:  def.Description,
		InputSchema:  def.InputSchema,
		OutputSchema: def.OutputSchema,
		Annotations:  def.Annotations,
		Icons:        def.Icons,
		Meta:         def.Meta,
		ConnectorID:  t.ConnectorID.String(),
		ExposedName:  exposedName,
		Hash:         t.Hash.String(),
		Enabled:      t.Enabled,
		Alias:        t.Alias,
		AgentText:    t.AgentText,
		Tags:         append([]string{}, t.Tags...),
		PerMinute:    t.Quota.PerMinute,
		PerDay:       t.Quota.PerDay,
		Review:       string(t.Review),
		FirstSeenAt:  t.FirstSeenAt.UTC(),
		LastSeenAt:   t.LastSeenAt.UTC(),
		ChangedAt:    t.ChangedAt.UTC(),
		RemovedAt:    toUTC(t.RemovedAt),
		Notes:        def.Notes,
	}
}

func viewQuarantined(q connectors.Quarantined) quarantinedToolJSON {
	return quarantinedToolJSON{Name: q.Name, Reason: q.Reason, Raw: q.Raw}
}
