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
	Tool          string     `json:"tool" doc:"The server's own name for it. Empty: the server's instructions changed, see /instructions."`
	SyncRunID     *string    `json:"sync_run_id" format:"uuid" doc:"The sync that met it; null: not known."`
	SeenAt        time.Time  `json:"seen_at"`
	BeforeHash    *string    `json:"before_hash" doc:"The definition that agents were served; null: none."`
	AfterHash     *string    `json:"after_hash" doc:"The definition that the server then had; null: the tool was removed. Hand it to accept or reject."`
	Kinds         []string   `json:"kinds" nullable:"false" doc:"What is different: new_tool, removed, hidden_text, instruction_like, shadows, new_link, instructions, text, parameter_added, parameter_removed, required_added, required_removed, type_widened, type_narrowed, type_changed, annotation_riskier, annotation_safer, output_schema, other, cosmetic."`
	Risk          string     `json:"risk" enum:"none,low,high"`
	State         string     `json:"state" enum:"waiting,accepted,rejected,kept,automatic,superseded" doc:"kept: a person keeps before_hash in service. automatic: the connector's tool_changes took it. superseded: the server changed the tool again before a decision."`
	DecidedBy     *string    `json:"decided_by" doc:"Null: not decided, or by the policy."`
	DecidedAt     *time.Time `json:"decided_at"`
	Agents        int        `json:"agents" doc:"How many agents were granted the tool; of instructions, any of the connector's."`
	Calls30d      int        `json:"calls_30d" doc:"How often it was called in the last 30 days, counted among the connector's latest 100,000 calls; of instructions, all of these."`
}

// differenceJSON is one difference of two definitions.
type differenceJSON struct {
	Path     string `json:"path" doc:"As people name it: arguments.filter.limit. Empty: the whole tool."`
	Kind     string `json:"kind"`
	Before   string `json:"before" doc:"JSON, cut where it is long; empty: it was not there."`
	After    string `json:"after" doc:"Likewise."`
	Sentence string `json:"sentence"`
}

// shownChangeJSON is a change with its differences.
type shownChangeJSON struct {
	toolChangeJSON
	Differences     []differenceJSON `json:"differences" nullable:"false"`
	MoreDifferences int              `json:"more_differences" doc:"How many more there are."`
}

type acceptedJSON struct {
	Accepted int                `json:"accepted"`
	Tools    []acceptedToolJSON `json:"tools" nullable:"false"`
}

type acceptedToolJSON struct {
	ConnectorID string `json:"connector_id" format:"uuid"`
	Tool        string `json:"tool" doc:"Empty: the server's instructions."`
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
