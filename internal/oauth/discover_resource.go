package oauth

import "context"

// findResource looks for the protected-resource document (RFC 9728 §3 and §5.1). None is no error: servers of MCP
// 2025-03-26 have none.
func (d *discovery) findResource(ctx context.Context) (ResourceMetadata, error) {
	for _, raw := range d.resourceCandidates() {
		t := d.look(ctx, StepResource, raw)
		if t.body == nil {
			// A proxy's internal address in a challenge is common; the well-known documents are still there.
			d.note(t.TraceStep, "No document: on to the next.")
			continue
		}
		m, ok := ParseResourceMetadata(t.body)
		if !ok {
			d.note(t.TraceStep, "Not a protected-resource document: on to the next.")
			continue
		}
		t.Read = "protected-resource metadata"
		if m.Resource == "" || covers(m.Resource, d.target.ServerURL) {
			d.note(t.TraceStep, "This is the resource's own document.")
			return m, nil
		}
		if d.target.Overrides.Resource != nil {
			d.note(t.TraceStep, "Its resource is not this server, and the connector says which one to send.")
			return m, nil
		}
		// A document for another resource would have us fetch a token for that one, and hand it to this server.
		d.note(t.TraceStep, "Its resource is "+shownURL(m.Resource)+", which is not this server: refused.")
		return m, refused(StepResource, "the metadata is for %s, and the server is %s",
			shownURL(m.Resource), shownURL(d.target.ServerURL))
	}
	if err := ctx.Err(); err != nil {
		return ResourceMetadata{}, d.interrupted(StepResource, err)
	}
	return ResourceMetadata{}, nil
}

func (d *discovery) resourceCandidates() []string {
	const name = "oauth-protected-resource"
	var all []string
	if d.target.ResourceMetadata != "" {
		all = append(all, d.target.ResourceMetadata)
	}
	root := origin(d.server) + "/.well-known/" + name
	if path := trimSlash(d.server.EscapedPath()); path != "" || d.server.RawQuery != "" {
		aware := wellKnown(d.server, name)
		if d.server.RawQuery != "" {
			aware += "?" + d.server.RawQuery
		}
		all = append(all, aware)
	}
	all = append(all, root)
	if len(all) > 1 && all[0] == all[1] {
		all = all[1:]
	}
	return all
}

func (d *discovery) interrupted(step Step, err error) *Error {
	if d.temporary != nil {
		return d.temporary
	}
	return &Error{Step: step, Kind: KindTemporary, Detail: "no whole answer in time", Err: err}
}
