package manifest

import (
	"context"
	"errors"
	"net/http"

	"patchbay/client"
)

// readShaping reads how answers are shortened, by the server's tool names.
func (r *fileReader) readShaping(location string, v any) map[string]client.Shaping {
	rules := map[string]client.Shaping{}
	for tool, v := range r.eachMember(location, v) {
		var rule client.Shaping
		r.decodeEntry(location+"."+tool, r.readObject(location+"."+tool, v), &rule)
		rules[tool] = rule
	}
	return rules
}

// shapingDocuments returns the rules of a grant as a file has them.
func shapingDocuments(rules []client.ToolShaping) Document {
	doc := Document{}
	for _, rule := range rules {
		doc[rule.Tool] = pickFields(toDocument(rule), []string{"fields", "budget"})
	}
	return doc
}

// planShaping plans the rules of a grant. Rules that the file lacks are deleted.
func (p *planner) planShaping(agent, connector string, wanted map[string]client.Shaping) {
	current := map[string]Document{}
	for _, rule := range p.state.Grants[agent][connector].Shaping {
		doc := toDocument(rule)
		delete(doc, "tool")
		current[rule.Tool] = doc
	}
	for _, tool := range sortedKeys(wanted) {
		rule := wanted[tool]
		want := Document{"fields": "", "budget": 0.0}
		for name, v := range toDocument(rule) {
			want[name] = v
		}
		if fields := diffFields(current[tool], want); len(fields) > 0 {
			p.add(Step{Change, "shaping", agent + " " + connector + " " + tool, fields, func(ctx context.Context, api *client.Client) error {
				return setShaping(ctx, api, agent, connector, tool, rule)
			}})
		}
	}
	for _, tool := range sortedKeys(current) {
		if _, stays := wanted[tool]; !stays {
			p.add(Step{Change, "shaping", agent + " " + connector + " " + tool, diffFields(current[tool], Document{"fields": "", "budget": 0.0}), func(ctx context.Context, api *client.Client) error {
				return api.ClearAgentShaping(ctx, agent, connector, tool)
			}})
		}
	}
}

// setShaping sets a rule. The tools of a new connector are synced first.
func setShaping(ctx context.Context, api *client.Client, agent, connector, tool string, rule client.Shaping) error {
	err := api.SetAgentShaping(ctx, agent, connector, tool, rule)
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Status != http.StatusNotFound {
		return err
	}
	if _, err := api.SyncTools(ctx, connector, client.SyncToolsQuery{}, client.SyncRequest{}); err != nil {
		return err
	}
	return api.SetAgentShaping(ctx, agent, connector, tool, rule)
}
