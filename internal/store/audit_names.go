package store

import (
	"context"
	"encoding/json"
	"strings"
)

// SlugNames are the names of agents and connectors by slug.
type SlugNames struct{ Agents, Connectors map[string]string }

// ConnectorName is a connector in a list of all.
type ConnectorName struct{ Slug, Name string }

// Names lists all connectors by name, up to MaxNames.
func (t Connectors) Names(ctx context.Context) ([]ConnectorName, error) {
	rows, err := t.q.ConnectorNames(ctx, t.id, MaxNames)
	if err != nil {
		return nil, err
	}
	names := make([]ConnectorName, len(rows))
	for i, r := range rows {
		names[i] = ConnectorName(r)
	}
	return names, nil
}

// MaxNames bounds the connectors of a filter.
const MaxNames = 2000

// NamesIn returns the present names of agents and connectors in targets and details of entries.
func (t Audit) NamesIn(ctx context.Context, events []RecordedEvent) (SlugNames, error) {
	names := SlugNames{Agents: map[string]string{}, Connectors: map[string]string{}}
	var slugs []string
	for _, e := range events {
		slugs = append(slugs, strings.Split(e.Target, "/")...)
		var detail struct{ Agent string }
		if json.Unmarshal(e.Detail, &detail) == nil && detail.Agent != "" {
			slugs = append(slugs, detail.Agent)
		}
	}
	if len(slugs) == 0 {
		return names, nil
	}
	rows, err := t.q.SlugNames(ctx, t.id, cleanAll(slugs))
	for _, r := range rows {
		if r.Kind == "agent" {
			names.Agents[r.Slug] = r.Name
		} else {
			names.Connectors[r.Slug] = r.Name
		}
	}
	return names, err
}
