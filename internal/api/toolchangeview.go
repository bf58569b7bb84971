package api

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/toolchange"
)

// toolChangeJSON is a change of a tool's definition, or of a server's instructions.
type toolChangeJSON struct {
	ID            string     `json:"id" format:"uuid"`
	ConnectorID   string     `json:"connector_id" format:"uuid"`
	ConnectorSlug string     `json:"connector_slug"`
	Tool          string     `json:"tool" doc:"The server's name for it. Empty if the server's instructions changed: see /instructions. skill: and a URI for a skill: see /skills."`
	SyncRunID     *string    `json:"sync_run_id" format:"uuid" doc:"The sync that found it. Null if unknown."`
	SeenAt        time.Time  `json:"seen_at"`
	BeforeHash    *string    `json:"before_hash" doc:"The definition served to agents. Null if none."`
	AfterHash     *string    `json:"after_hash" doc:"The server's new definition, for accept or reject. Null if the tool was removed."`
	Kinds         []string   `json:"kinds" nullable:"false" doc:"new_tool, new_skill, removed, hidden_text, instruction_like, shadows, new_link, instructions, skill_files, text, parameter_added, parameter_removed, required_added, required_removed, type_widened, type_narrowed, type_changed, annotation_riskier, annotation_safer, output_schema, endpoint_changed, request_changed, other, cosmetic."`
	Risk          string     `json:"risk" enum:"none,low,high"`
	State         string     `json:"state" enum:"waiting,accepted,rejected,kept,automatic,superseded" doc:"kept: before_hash stays in service by decision. automatic: accepted by the connector's tool_changes. superseded: the server changed the tool again before a decision."`
	DecidedBy     *string    `json:"decided_by" doc:"Null if not decided, or decided by policy."`
	DecidedAt     *time.Time `json:"decided_at"`
	Agents        int        `json:"agents" doc:"Number of agents granted the tool; for instructions, the connector; for a skill, its resources."`
	Calls30d      int        `json:"calls_30d" doc:"Calls in the last 30 days, among the connector's latest 100,000; for instructions, of all its tools."`
}

// differenceJSON is one difference of two definitions.
type differenceJSON struct {
	Path     string `json:"path" doc:"For example arguments.filter.limit. Empty for the whole tool."`
	Kind     string `json:"kind"`
	Before   string `json:"before" doc:"JSON, cut if long. Empty if absent."`
	After    string `json:"after" doc:"Likewise."`
	Sentence string `json:"sentence"`
}

// shownChangeJSON is a change with its differences.
type shownChangeJSON struct {
	toolChangeJSON
	Differences     []differenceJSON `json:"differences" nullable:"false"`
	MoreDifferences int              `json:"more_differences" doc:"Number of differences left out."`
}

type acceptedJSON struct {
	Accepted int                `json:"accepted"`
	Tools    []acceptedToolJSON `json:"tools" nullable:"false"`
}

type acceptedToolJSON struct {
	ConnectorID string `json:"connector_id" format:"uuid"`
	Tool        string `json:"tool" doc:"Empty for the server's instructions."`
}

func viewToolChange(c connectors.ToolChange) toolChangeJSON {
	out := toolChangeJSON{
		ID: c.ID.String(), ConnectorID: c.ConnectorID.String(), ConnectorSlug: c.ConnectorSlug, Tool: c.Tool, SeenAt: c.SeenAt.UTC(),
		BeforeHash: hashText(c.Before), AfterHash: hashText(c.After), Kinds: kindTexts(c.Kinds), Risk: string(c.Risk), State: string(c.State),
		DecidedAt: toUTC(c.DecidedAt), Agents: c.Agents, Calls30d: c.Calls,
	}
	if c.SyncRunID != nil {
		id := c.SyncRunID.String()
		out.SyncRunID = &id
	}
	if c.DecidedBy != "" {
		out.DecidedBy = &c.DecidedBy
	}
	return out
}

func viewShownChange(c manage.ShownChange) shownChangeJSON {
	out := shownChangeJSON{
		toolChangeJSON: viewToolChange(c.ToolChange), Differences: make([]differenceJSON, len(c.Difference.Differences)), MoreDifferences: c.Difference.More,
	}
	for i, d := range c.Difference.Differences {
		out.Differences[i] = differenceJSON{Path: d.Path, Kind: string(d.Kind), Before: d.Before, After: d.After, Sentence: d.Sentence}
	}
	return out
}

func hashText(h *connectors.Hash) *string {
	if h == nil {
		return nil
	}
	text := h.String()
	return &text
}

func kindTexts(kinds []toolchange.Kind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k)
	}
	return out
}
