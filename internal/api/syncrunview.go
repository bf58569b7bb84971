package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
)

// syncRunJSON is one sync run.
type syncRunJSON struct {
	ID               string            `json:"id" format:"uuid"`
	ConnectorID      string            `json:"connector_id" format:"uuid"`
	AgentID          *string           `json:"agent_id" doc:"The agent whose credential was used. Null: the shared credential, or none."`
	Trigger          string            `json:"trigger" enum:"manual,oauth,schedule,list_changed,api"`
	Status           string            `json:"status" enum:"queued,running,ok,error,cancelled"`
	StartedAt        *time.Time        `json:"started_at"`
	FinishedAt       *time.Time        `json:"finished_at" doc:"For repeated scheduled syncs: end of the last one."`
	DurationMS       *int64            `json:"duration_ms" doc:"Null until finished."`
	ToolsTotal       int               `json:"tools_total"`
	ToolsAdded       int               `json:"tools_added"`
	ToolsChanged     int               `json:"tools_changed" doc:"Including held ones."`
	ToolsRemoved     int               `json:"tools_removed"`
	ToolsQuarantined int               `json:"tools_quarantined"`
	Items            *itemCountsJSON   `json:"items" doc:"Prompts, resources and resource templates, which need no review. Null if not counted, for example when a scheduled sync found nothing new."`
	ProtocolVersion  string            `json:"protocol_version"`
	Error            *syncRunErrorJSON `json:"error"`
	CancelledBy      *string           `json:"cancelled_by" doc:"Name of the actor that cancelled it. Null: not cancelled."`
	Upstream         *upstreamSaidJSON `json:"upstream" doc:"The server's response if the run failed. Null if none. Later scheduled syncs with the same error do not replace it."`
	Repeats          int               `json:"repeats" doc:"Later scheduled syncs with the same result, which have no run of their own."`

	Requests     []runRequestJSON `json:"requests,omitzero" nullable:"false" doc:"In order of start, only when a single run is read; none for scheduled syncs that found nothing new. At most 64, the first and the last."`
	RequestsLeft int              `json:"requests_left_out,omitempty" doc:"Number of requests left out."`
}

type syncRunErrorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// itemCountsJSON are the numbers of prompts, resources and templates of a run.
type itemCountsJSON struct {
	Prompts   kindCountsJSON `json:"prompts"`
	Resources kindCountsJSON `json:"resources"`
	Templates kindCountsJSON `json:"resource_templates"`
}

type kindCountsJSON struct {
	Total   int `json:"total"`
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

func viewItemCounts(c *connectors.ItemCounts) *itemCountsJSON {
	if c == nil {
		return nil
	}
	return &itemCountsJSON{kindCountsJSON(c.Prompts), kindCountsJSON(c.Resources), kindCountsJSON(c.Templates)}
}

// TransformSchema implements huma.SchemaTransformer.
func (syncRunJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "error", "items", "upstream")
}

func viewSyncRun(run connectors.SyncRun) syncRunJSON {
	out := syncRunJSON{
		ID:               run.ID.String(),
		ConnectorID:      run.ConnectorID.String(),
		AgentID:          idText(run.AgentID),
		Trigger:          string(run.Trigger),
		Status:           string(run.State),
		StartedAt:        toUTC(run.StartedAt),
		FinishedAt:       toUTC(run.LastAt()),
		ToolsTotal:       run.Counts.Total,
		ToolsAdded:       run.Counts.Added,
		ToolsChanged:     run.Counts.Changed,
		ToolsRemoved:     run.Counts.Removed,
		ToolsQuarantined: run.Counts.Quarantined,
		Items:            viewItemCounts(run.Items),
		ProtocolVersion:  run.ProtocolVersion,
		Upstream:         viewUpstreamSaid(run.Upstream),
		Repeats:          run.Repeats,
		CancelledBy:      nilIfZero(run.CancelledBy),
	}
	if run.FinishedAt != nil {
		ms := run.Duration().Milliseconds()
		out.DurationMS = &ms
	}
	if run.ErrorCode != "" {
		out.Error = &syncRunErrorJSON{Code: run.ErrorCode, Message: run.ErrorMessage}
	}
	return out
}
