package manifest

import (
	"context"
	"fmt"

	"patchbay/client"
)

// toolFields are the fields of the API's ToolPatch that set a state, without those that add or remove.
var toolFields = []string{"enabled", "alias", "agent_description", "tags", "calls_per_minute", "calls_per_day"}

// readTools reads the settings of a connector's tools; nil: none.
func (r *fileReader) readTools(location string, v any) map[string]Document {
	tools := map[string]Document{}
	for name, v := range r.eachMember(location, v) {
		fields := r.readObject(location+"."+name, v)
		for _, adding := range []string{"add_tags", "remove_tags"} {
			if _, there := fields[adding]; there {
				r.addError(location+"."+name+"."+adding, "is not supported: list all tags under tags")
			}
		}
		tools[name] = r.decodeEntry(location+"."+name, fields, new(client.ToolPatch))
	}
	return tools
}

func fetchTools(ctx context.Context, api *client.Client, connector string) (map[string]client.Tool, error) {
	tools := map[string]client.Tool{}
	for t, err := range api.AllConnectorTools(ctx, connector, client.ListConnectorToolsQuery{Limit: pageSize}) {
		if err != nil {
			return nil, err
		}
		if t.Tool != nil {
			tools[t.Tool.Name] = *t.Tool
		}
	}
	return tools, nil
}

// planTools plans the tools' settings. For an unknown tool the connector is synced first, once.
func (p *planner) planTools(slug string, wanted map[string]Document) error {
	synced := false
	for _, name := range sortedKeys(wanted) {
		is, there := p.state.Tools[slug][name]
		fields := diffFields(toDocument(is), wanted[name])
		if !there {
			fields = newFields(wanted[name])
		}
		if len(fields) == 0 {
			continue
		}
		patch, err := decodeDocument[client.ToolPatch](selectFields(wanted[name], fields))
		if err != nil {
			return err
		}
		p.add(Step{Change, "tool", slug + " " + name, fields, func(ctx context.Context, api *client.Client) error {
			if !there && !synced {
				if _, err := api.SyncTools(ctx, slug, client.SyncToolsQuery{}, client.SyncRequest{}); err != nil {
					return fmt.Errorf("its tools haven't been synced yet: %w", err)
				}
				synced = true
			}
			_, err := api.UpdateTool(ctx, slug, name, patch)
			return err
		}})
	}
	return nil
}

// newFields returns all fields of a new document, empty ones included.
func newFields(wanted Document) (fields []Field) {
	for _, name := range sortedKeys(wanted) {
		fields = append(fields, Field{name, nil, wanted[name]})
	}
	return fields
}

// toolDocuments returns the tools with settings of an admin.
func toolDocuments(tools map[string]client.Tool) Document {
	written := Document{}
	for name, t := range tools {
		doc := pickFields(toDocument(t), toolFields)
		if delete(doc, "enabled"); !t.Enabled {
			doc["enabled"] = false
		}
		if len(doc) > 0 {
			written[name] = doc
		}
	}
	return written
}
