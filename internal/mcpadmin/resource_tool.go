package mcpadmin

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"patchbay/client"
)

// toolResource is a tool as a resource.
type toolResource struct {
	Connector string        `json:"connector"`
	Hash      string        `json:"hash"`
	Review    string        `json:"review"`
	Enabled   bool          `json:"enabled"`
	Tags      []string      `json:"tags"`
	FirstSeen time.Time     `json:"first_seen_at"`
	LastSeen  time.Time     `json:"last_seen_at"`
	RemovedAt *time.Time    `json:"removed_at"`
	History   []shownChange `json:"history"`
	Untrusted toolWords     `json:"untrusted"`
}

// toolWords are what the server wrote of a tool.
type toolWords struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	ExposedName  string          `json:"exposed_name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Annotations  json.RawMessage `json:"annotations"`
}

// shownChange is a change with what is different.
type shownChange struct {
	change
	Differences differences `json:"differences"`
}

type differences struct {
	More      int64               `json:"more" jsonschema:"How many there are besides those."`
	Untrusted []client.Difference `json:"untrusted"`
}

// mostHistory is how many changes of a tool are told.
const mostHistory = 20

// readTool finds a tool by the server's name for it; nil: there is none.
func readTool(ctx context.Context, c *caller, connector, name string) (any, error) {
	for item, err := range c.AllConnectorTools(ctx, connector, client.ListConnectorToolsQuery{Limit: 200, Removed: new(true)}) {
		if err != nil {
			return nil, err
		}
		if item.Tool == nil || item.Tool.Name != name {
			continue
		}
		past, err := c.history(ctx, connector, name)
		return viewTool(connector, *item.Tool, past), err
	}
	return nil, nil
}

func viewTool(connector string, t client.Tool, past []shownChange) toolResource {
	return toolResource{
		Connector: connector, Hash: t.Hash, Review: t.Review, Enabled: t.Enabled, Tags: append([]string{}, t.Tags...), FirstSeen: t.FirstSeenAt,
		LastSeen: t.LastSeenAt, RemovedAt: t.RemovedAt, History: past,
		Untrusted: toolWords{
			Name: t.Name, Title: t.Title, ExposedName: t.ExposedName, Description: t.Description, InputSchema: orNull(t.InputSchema),
			OutputSchema: orNull(t.OutputSchema), Annotations: orNull(t.Annotations),
		},
	}
}

// history is what became of a tool, the latest first.
func (c *caller) history(ctx context.Context, connector, tool string) ([]shownChange, error) {
	var got struct {
		Items []struct {
			client.ToolChange
			client.ShownChange
		} `json:"items"`
	}
	err := c.h.get(ctx, "/api/v1/connectors/"+url.PathEscape(connector)+"/tools/"+url.PathEscape(tool)+"/changes", &got)
	past := []shownChange{}
	for _, item := range got.Items[:min(len(got.Items), mostHistory)] {
		shown := shownChange{change: viewChange(item.ToolChange), Differences: differences{More: item.MoreDifferences, Untrusted: item.Differences}}
		past = append(past, shown)
	}
	return past, err
}
