package manifest

import (
	"context"
	"fmt"

	"patchbay/client"
)

// toolFields are what a file may say of a tool, which are those of the API's ToolPatch that say what is to be, and not what is to be added.
var toolFields = []string{"enabled", "alias", "agent_description", "tags", "calls_per_minute", "calls_per_day"}

// tools reads what is said of a connector's tools; nil: nothing.
func (r *reader) tools(at string, v any) map[string]Document {
	tools := map[string]Document{}
	for name, v := range r.each(at, v) {
		fields := r.entries(at+"."+name, v)
		for _, adding := range []string{"add_tags", "remove_tags"} {
			if _, there := fields[adding]; there {
				r.wrong(at+"."+name+"."+adding, "say all tags that it is to have, as tags")
			}
		}
		tools[name] = r.decode(at+"."+name, fields, new(client.ToolPatch))
	}
	return tools
}

// fetchTools reads what the installation has of the tools of a connector.
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

// tools are the steps for a connector's tools. Where one is not known yet, the connector is synced first, once.
func (p *planner) tools(slug string, wanted map[string]Document) error {
	synced := false
	for _, name := range slugs(wanted) {
		is, there := p.is.Tools[slug][name]
		fields := differing(documentOf(is), wanted[name])
		if !there {
			fields = anew(wanted[name])
		}
		if len(fields) == 0 {
			continue
		}
		patch, err := into[client.ToolPatch](within(wanted[name], fields))
		if err != nil {
			return err
		}
		p.add(Step{Change, "tool", slug + " " + name, fields, func(ctx context.Context, api *client.Client) error {
			if !there && !synced {
				if _, err := api.SyncTools(ctx, slug, client.SyncToolsQuery{}, client.SyncRequest{}); err != nil {
					return fmt.Errorf("its tools are not known yet: %w", err)
				}
				synced = true
			}
			_, err := api.UpdateTool(ctx, slug, name, patch)
			return err
		}})
	}
	return nil
}

// anew are the fields of what is not there, those that say nothing of note among them.
func anew(wanted Document) (fields []Field) {
	for _, name := range slugs(wanted) {
		fields = append(fields, Field{name, nil, wanted[name]})
	}
	return fields
}

// writtenTools are those of which an admin says something.
func writtenTools(tools map[string]client.Tool) Document {
	written := Document{}
	for name, t := range tools {
		doc := picked(documentOf(t), toolFields)
		if delete(doc, "enabled"); !t.Enabled {
			doc["enabled"] = false
		}
		if len(doc) > 0 {
			written[name] = doc
		}
	}
	return written
}
