package mcpadmin

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"patchbay/client"
)

type toolResource struct {
	Connector string         `json:"connector"`
	Hash      string         `json:"hash"`
	Review    string         `json:"review"`
	Enabled   bool           `json:"enabled"`
	Tags      []string       `json:"tags"`
	FirstSeen time.Time      `json:"first_seen_at"`
	LastSeen  time.Time      `json:"last_seen_at"`
	RemovedAt *time.Time     `json:"removed_at"`
	History   []changeDetail `json:"history"`
	Untrusted untrustedTool  `json:"untrusted"`
}

// untrustedTool has the server's texts of a tool.
type untrustedTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	ExposedName  string          `json:"exposed_name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Annotations  json.RawMessage `json:"annotations"`
}

type changeDetail struct {
	changeView
	Differences differences `json:"differences"`
}

type differences struct {
	More      int64               `json:"more" jsonschema:"Number of entries left out."`
	Untrusted []client.Difference `json:"untrusted"`
}

const maxHistory = 20

// readTool finds a tool by the server's name; nil: none.
func readTool(ctx context.Context, c *caller, connector, name string) (any, error) {
	for item, err := range c.AllConnectorTools(ctx, connector, client.ListConnectorToolsQuery{Limit: 200, Removed: new(true)}) {
		if err != nil {
			return nil, err
		}
		if item.Tool == nil || item.Tool.Name != name {
			continue
		}
		past, err := c.toolHistory(ctx, connector, name)
		return viewTool(connector, *item.Tool, past), err
	}
	return nil, nil
}

func viewTool(connector string, t client.Tool, past []changeDetail) toolResource {
	return toolResource{
		Connector: connector, Hash: t.Hash, Review: t.Review, Enabled: t.Enabled, Tags: append([]string{}, t.Tags...), FirstSeen: t.FirstSeenAt,
		LastSeen: t.LastSeenAt, RemovedAt: t.RemovedAt, History: past,
		Untrusted: untrustedTool{
			Name: t.Name, Title: t.Title, ExposedName: t.ExposedName, Description: t.Description, InputSchema: orNull(t.InputSchema),
			OutputSchema: orNull(t.OutputSchema), Annotations: orNull(t.Annotations),
		},
	}
}

// toolHistory returns a tool's changes, latest first.
func (c *caller) toolHistory(ctx context.Context, connector, tool string) ([]changeDetail, error) {
	var got struct {
		Items []struct {
			client.ToolChange
			client.ShownChange
		} `json:"items"`
	}
	err := c.h.getJSON(ctx, "/api/v1/connectors/"+url.PathEscape(connector)+"/tools/"+url.PathEscape(tool)+"/changes", &got)
	past := []changeDetail{}
	for _, item := range got.Items[:min(len(got.Items), maxHistory)] {
		shown := changeDetail{changeView: viewChange(item.ToolChange), Differences: differences{More: item.MoreDifferences, Untrusted: item.Differences}}
		past = append(past, shown)
	}
	return past, err
}
