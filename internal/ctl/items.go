package ctl

import (
	"context"

	"patchbay/client"
)

type connectorPrompts struct {
	connectorRef
	Query string `short:"q" placeholder:"TEXT" help:"Filter by part of the name, title or description."`
}

// Run prints a row for each prompt.
func (c connectorPrompts) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllConnectorPrompts(ctx, c.Connector, client.ListConnectorPromptsQuery{Q: c.Query, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("PROMPT", "ARGUMENTS", "SINCE", "CHANGED", "DESCRIPTION")
	for _, p := range list {
		names := make([]string, len(p.Arguments))
		for i, a := range p.Arguments {
			if names[i] = a.Name; !a.Required {
				names[i] = "[" + a.Name + "]"
			}
		}
		t.addRow(p.Name, names, p.FirstSeenAt, p.ChangedAt, shorten(p.Description))
	}
	return s.printValue(list, t)
}

type connectorResources struct {
	connectorRef
	Query string `short:"q" placeholder:"TEXT" help:"Filter by part of the URI, name, title or description."`
}

// connectorResourceList is what a connector's server offers to read.
type connectorResourceList struct {
	Resources []client.Resource         `json:"resources"`
	Templates []client.ResourceTemplate `json:"resource_templates"`
}

// Run prints a row for each resource and each template.
func (c connectorResources) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var all connectorResourceList
	all.Resources, err = collectPages(api.AllConnectorResources(ctx, c.Connector, client.ListConnectorResourcesQuery{Q: c.Query, Limit: pageSize}))
	if err != nil {
		return err
	}
	all.Templates, err = collectPages(api.AllConnectorResourceTemplates(ctx, c.Connector, client.ListConnectorResourceTemplatesQuery{Q: c.Query, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("KIND", "URI", "NAME", "TYPE", "SINCE", "CHANGED")
	for _, r := range all.Resources {
		t.addRow("resource", r.URI, r.Name, r.MimeType, r.FirstSeenAt, r.ChangedAt)
	}
	for _, r := range all.Templates {
		t.addRow("template", r.URITemplate, r.Name, r.MimeType, r.FirstSeenAt, r.ChangedAt)
	}
	return s.printValue(all, t)
}

type connectorSkills struct {
	connectorRef
}

// Run prints a row for each skill.
func (c connectorSkills) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := api.ListSkills(ctx, c.Connector)
	if err != nil {
		return err
	}
	t := newTable("SKILL", "URI", "REVIEW", "FILES", "BYTES", "CHANGED", "HASH", "DESCRIPTION")
	for _, skill := range list.Items {
		t.addRow(skill.Name, skill.URI, skill.Review, skill.Files, skill.Bytes, skill.ChangedAt, skill.Hash, shorten(skill.Description))
	}
	return s.printValue(list.Items, t)
}
