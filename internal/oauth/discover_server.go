package oauth

import "context"

// maxIssuers bounds how many authorization servers of one resource are tried.
const maxIssuers = 4

// findServer finds the document of the authorization server, tries the issuers in their order, and puts an admin's
// endpoints in the place of the document's.
func (d *discovery) findServer(ctx context.Context, named []string) error {
	issuers, own := d.issuers(named)
	for _, issuer := range issuers {
		if d.tryIssuer(ctx, issuer) {
			d.pinEndpoints()
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return d.interrupted(StepServer, err)
	}
	o := d.target.Overrides
	switch {
	case o.AuthorizationEndpoint != "" && o.TokenEndpoint != "":
		d.found.Server = Metadata{Issuer: issuers[0], Assumed: true}
		d.note(TraceStep{Step: StepServer}, "No usable document; the connector names both endpoints.")
		d.pinEndpoints()
		return nil
	case d.mismatch != nil:
		return d.mismatch
	case d.temporary != nil:
		return d.temporary // "not found" would be a guess, and so would be the default endpoints
	case d.forbidden != nil:
		return d.forbidden
	case own:
		d.assumeEndpoints(issuers[0])
		return nil
	}
	return &Error{Step: StepServer, Kind: KindProtocol, Detail: "no authorization-server metadata was found"}
}

// issuers are the identifiers to try, never none. own tells that it is the MCP server's origin for want of another.
func (d *discovery) issuers(named []string) (issuers []string, own bool) {
	step := TraceStep{Step: StepServer}
	switch {
	case d.target.Overrides.Issuer != "":
		d.note(step, "The issuer is the connector's: "+shownURL(d.target.Overrides.Issuer)+".")
		return []string{d.target.Overrides.Issuer}, false
	case len(named) > 0:
		return named[:min(len(named), maxIssuers)], false
	}
	d.note(step, "No authorization server is named: the server's own origin is the issuer, as in MCP 2025-03-26.")
	return []string{origin(d.server)}, true
}

// tryIssuer looks at every place where the issuer's document may stand.
func (d *discovery) tryIssuer(ctx context.Context, issuer string) bool {
	if err := d.client.checkURL(StepServer, "issuer", issuer); err != nil {
		d.forbid(err)
		d.note(TraceStep{Step: StepServer, URL: shownURL(issuer)}, "This issuer may not be contacted.")
		return false
	}
	for _, raw := range serverCandidates(issuer) {
		t := d.look(ctx, StepServer, raw)
		switch {
		case t.forbidden:
			d.forbid(t.cause)
			d.note(t.TraceStep, "This issuer may not be contacted.")
			return false
		case t.body == nil:
			d.note(t.TraceStep, "No document: on to the next.")
		case d.takeDocument(t, issuer):
			return true
		}
	}
	return false
}

func (d *discovery) forbid(err *Error) {
	if d.forbidden == nil {
		d.forbidden = err
	}
}

// serverCandidates are where RFC 8414 §3.1 and OpenID Connect Discovery §4 put the document.
func serverCandidates(issuer string) []string {
	u, ok := plainURL(issuer)
	if !ok {
		return nil
	}
	all := []string{wellKnown(u, "oauth-authorization-server"), wellKnown(u, "openid-configuration")}
	if path := trimSlash(u.EscapedPath()); path != "" {
		all = append(all, u.Scheme+"://"+u.Host+path+"/.well-known/openid-configuration")
	}
	return all
}

// takeDocument judges one document. A document of another issuer is remembered and left: followed, it would send one
// server's codes and secrets to another (RFC 8414 §3.3).
func (d *discovery) takeDocument(t tried, issuer string) bool {
	m, ok := ParseMetadata(t.body)
	if !ok || m.Issuer == "" && m.TokenEndpoint == "" {
		d.note(t.TraceStep, "Not an authorization server's document: on to the next.")
		return false
	}
	t.Read = "authorization-server metadata"
	if !sameIssuer(m.Issuer, issuer) {
		if d.mismatch == nil {
			d.mismatch = refused(StepServer, "the issuer is %s, and its document says %s", shownURL(issuer), shownIssuer(m.Issuer))
		}
		d.note(t.TraceStep, "The document is of the issuer "+shownIssuer(m.Issuer)+", not of "+shownURL(issuer)+": not used.")
		return false
	}
	if m.TokenEndpoint == "" && d.target.Overrides.TokenEndpoint == "" {
		d.note(t.TraceStep, "It names no token endpoint: on to the next.")
		return false
	}
	if err := d.checkEndpoints(&m, t.TraceStep); err != nil {
		d.forbid(err)
		return false
	}
	d.found.Server = m
	d.note(t.TraceStep, "This is the authorization server.")
	return true
}

func shownIssuer(issuer string) string {
	if issuer == "" {
		return "(none)"
	}
	return shownURL(issuer)
}

// checkEndpoints refuses a document whose main endpoints may not be contacted, and leaves the others out of it.
func (d *discovery) checkEndpoints(m *Metadata, step TraceStep) *Error {
	o := d.target.Overrides
	for _, e := range []struct{ what, raw, pinned string }{
		{"authorization endpoint", m.AuthorizationEndpoint, o.AuthorizationEndpoint},
		{"token endpoint", m.TokenEndpoint, o.TokenEndpoint},
	} {
		if e.raw == "" || e.pinned != "" {
			continue
		}
		if err := d.client.checkURL(StepServer, e.what, e.raw); err != nil {
			d.note(step, "Its "+e.what+" is not one that may be used: refused.")
			return err
		}
	}
	for what, endpoint := range map[string]*string{
		"registration endpoint": &m.RegistrationEndpoint,
		"revocation endpoint":   &m.RevocationEndpoint,
	} {
		if *endpoint != "" && d.client.checkURL(StepServer, what, *endpoint) != nil {
			d.note(step, "Its "+what+" is not one that may be used: left out.")
			*endpoint = ""
		}
	}
	return nil
}

// assumeEndpoints are those of MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery".
func (d *discovery) assumeEndpoints(issuer string) {
	d.found.Server = Metadata{
		Issuer: issuer, Assumed: true,
		AuthorizationEndpoint: issuer + "/authorize",
		TokenEndpoint:         issuer + "/token",
		RegistrationEndpoint:  issuer + "/register",
	}
	d.note(TraceStep{Step: StepServer}, "No document at all: the default endpoints of MCP 2025-03-26 are assumed.")
	d.pinEndpoints()
}

func (d *discovery) pinEndpoints() {
	o, m := d.target.Overrides, &d.found.Server
	if o.AuthorizationEndpoint != "" {
		m.AuthorizationEndpoint = o.AuthorizationEndpoint
		d.note(TraceStep{Step: StepServer, URL: shownURL(o.AuthorizationEndpoint)}, "The authorization endpoint is the connector's.")
	}
	if o.TokenEndpoint != "" {
		m.PinTokenEndpoint(o.TokenEndpoint)
		d.note(TraceStep{Step: StepServer, URL: shownURL(o.TokenEndpoint)}, "The token endpoint is the connector's.")
	}
}
