package oauth

import "context"

// findResource fetches the protected-resource document (RFC 9728 sections 3 and 5.1). None is no error: servers
// of MCP 2025-03-26 have none.
func (d *discovery) findResource(ctx context.Context) (ResourceMetadata, error) {
	for _, raw := range d.resourceCandidates() {
		t := d.fetchDocument(ctx, StepResource, raw)
		if t.body == nil {
			// A challenge often has a proxy's internal URL; the well-known URLs remain.
			d.addTrace(t.TraceStep, "No document; trying the next.")
			continue
		}
		m, ok := ParseResourceMetadata(t.body)
		if !ok {
			d.addTrace(t.TraceStep, "Not a protected-resource document; trying the next.")
			continue
		}
		t.Read = "protected-resource metadata"
		if m.Resource == "" || coversResource(d.client.asciiURL(m.Resource), d.target.ServerURL) {
			d.addTrace(t.TraceStep, "The resource's own document.")
			return m, nil
		}
		if d.target.Overrides.Resource != nil {
			d.addTrace(t.TraceStep, "Its resource isn't this server; the connector's is sent.")
			return m, nil
		}
		// A document for another resource would make us send that one's token to this server.
		d.addTrace(t.TraceStep, "Its resource "+d.client.shownURL(m.Resource)+" isn't this server: refused.")
		return m, newRefusal(StepResource, "the metadata is for %s, and the server is %s",
			d.client.shownURL(m.Resource), shownURL(d.target.ServerURL))
	}
	if err := ctx.Err(); err != nil {
		return ResourceMetadata{}, d.asInterruption(StepResource, err)
	}
	return ResourceMetadata{}, nil
}

func (d *discovery) resourceCandidates() []string {
	const name = "oauth-protected-resource"
	var all []string
	if d.target.ResourceMetadata != "" {
		all = append(all, d.target.ResourceMetadata)
	}
	root := originURL(d.server) + "/.well-known/" + name
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

func (d *discovery) asInterruption(step Step, err error) *Error {
	if d.temporary != nil {
		return d.temporary
	}
	return &Error{Step: step, Kind: KindTemporary, Detail: "a timeout", Err: err}
}
