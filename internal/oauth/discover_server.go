package oauth

import "context"

// maxIssuers bounds the authorization servers of one resource that are tried.
const maxIssuers = 4

// findServer fetches the authorization server's document, trying the issuers in order, and applies an admin's
// endpoints.
func (d *discovery) findServer(ctx context.Context, named []string) error {
	issuers, own := d.candidateIssuers(named)
	for _, issuer := range issuers {
		if d.tryIssuer(ctx, issuer) {
			d.pinEndpoints()
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return d.asInterruption(StepServer, err)
	}
	o := d.target.Overrides
	switch {
	case o.AuthorizationEndpoint != "" && o.TokenEndpoint != "":
		d.found.Server = Metadata{Issuer: issuers[0], Assumed: true}
		d.addTrace(TraceStep{Step: StepServer}, "No usable document; using the connector's endpoints.")
		d.pinEndpoints()
		return nil
	case d.mismatch != nil:
		return d.mismatch
	case d.temporary != nil:
		return d.temporary // "not found" and default endpoints would be guesses
	case d.forbidden != nil:
		return d.forbidden
	case own:
		d.assumeEndpoints(issuers[0])
		return nil
	}
	return &Error{Step: StepServer, Kind: KindProtocol, Detail: "no authorization-server metadata was found"}
}

// candidateIssuers returns the issuers to try, at least one. own reports that it is only the MCP server's
// origin.
func (d *discovery) candidateIssuers(named []string) (candidateIssuers []string, own bool) {
	step := TraceStep{Step: StepServer}
	switch {
	case d.target.Overrides.Issuer != "":
		d.addTrace(step, "The issuer is the connector's: "+d.client.shownURL(d.target.Overrides.Issuer)+".")
		return []string{d.target.Overrides.Issuer}, false
	case len(named) > 0:
		return named[:min(len(named), maxIssuers)], false
	}
	d.addTrace(step, "No authorization server named; using the server's origin as issuer (MCP 2025-03-26).")
	return []string{originURL(d.server)}, true
}

// tryIssuer tries every well-known URL of an issuer. Requests have its host in xn-- form; its document is
// compared with the issuer as published.
func (d *discovery) tryIssuer(ctx context.Context, issuer string) bool {
	ascii := d.client.asciiURL(issuer)
	if err := d.client.checkURL(StepServer, "issuer", ascii); err != nil {
		d.recordForbidden(err)
		d.addTrace(TraceStep{Step: StepServer, URL: d.client.shownURL(issuer)}, "This issuer isn't allowed.")
		return false
	}
	for _, raw := range serverCandidates(ascii) {
		t := d.fetchDocument(ctx, StepServer, raw)
		switch {
		case t.forbidden:
			d.recordForbidden(t.cause)
			d.addTrace(t.TraceStep, "This issuer isn't allowed.")
			return false
		case t.body == nil:
			d.addTrace(t.TraceStep, "No document; trying the next.")
		case d.takeDocument(t, issuer):
			return true
		}
	}
	return false
}

func (d *discovery) recordForbidden(err *Error) {
	if d.forbidden == nil {
		d.forbidden = err
	}
}

// serverCandidates returns the URLs of RFC 8414 section 3.1 and OpenID Connect Discovery section 4.
func serverCandidates(issuer string) []string {
	u, ok := parsePlainURL(issuer)
	if !ok {
		return nil
	}
	all := []string{wellKnown(u, "oauth-authorization-server"), wellKnown(u, "openid-configuration")}
	if path := trimSlash(u.EscapedPath()); path != "" {
		all = append(all, u.Scheme+"://"+u.Host+path+"/.well-known/openid-configuration")
	}
	return all
}

// takeDocument checks one document. A document of another issuer is refused: it would send one server's codes
// and secrets to another (RFC 8414 section 3.3).
func (d *discovery) takeDocument(t fetchAttempt, issuer string) bool {
	m, ok := ParseMetadata(t.body)
	if !ok || m.Issuer == "" && m.TokenEndpoint == "" {
		d.addTrace(t.TraceStep, "Not an authorization-server document; trying the next.")
		return false
	}
	t.Read = "authorization-server metadata"
	if !sameIssuer(m.Issuer, issuer) {
		if d.mismatch == nil {
			d.mismatch = newRefusal(StepServer, "the issuer is %s, and its document says %s", d.client.shownURL(issuer), d.shownIssuer(m.Issuer))
		}
		d.addTrace(t.TraceStep, "The document is from issuer "+d.shownIssuer(m.Issuer)+", not "+d.client.shownURL(issuer)+": not used.")
		return false
	}
	if m.TokenEndpoint == "" && d.target.Overrides.TokenEndpoint == "" {
		d.addTrace(t.TraceStep, "No token endpoint; trying the next.")
		return false
	}
	d.convertEndpoints(&m)
	if err := d.checkEndpoints(&m, t.TraceStep); err != nil {
		d.recordForbidden(err)
		return false
	}
	d.found.Server = m
	d.addTrace(t.TraceStep, "Authorization server found.")
	return true
}

func (d *discovery) shownIssuer(issuer string) string {
	if issuer == "" {
		return "(none)"
	}
	return d.client.shownURL(issuer)
}

// convertEndpoints writes the hosts of a document's endpoints in xn-- form. The issuer is an identifier and stays as
// published.
func (d *discovery) convertEndpoints(m *Metadata) {
	for _, raw := range []*string{&m.AuthorizationEndpoint, &m.TokenEndpoint, &m.RegistrationEndpoint, &m.RevocationEndpoint, &m.UserinfoEndpoint} {
		*raw = d.client.asciiURL(*raw)
	}
}

// checkEndpoints refuses a document with a main endpoint that must not be contacted, and drops other such
// endpoints.
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
			d.addTrace(step, "Its "+e.what+" isn't allowed: refused.")
			return err
		}
	}
	for what, endpoint := range map[string]*string{
		"registration endpoint": &m.RegistrationEndpoint,
		"revocation endpoint":   &m.RevocationEndpoint,
		"userinfo endpoint":     &m.UserinfoEndpoint,
	} {
		if *endpoint != "" && d.client.checkURL(StepServer, what, *endpoint) != nil {
			d.addTrace(step, "Its "+what+" isn't allowed: left out.")
			*endpoint = ""
		}
	}
	return nil
}

// assumeEndpoints sets the endpoints of MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery".
func (d *discovery) assumeEndpoints(issuer string) {
	d.found.Server = Metadata{
		Issuer: issuer, Assumed: true,
		AuthorizationEndpoint: issuer + "/authorize",
		TokenEndpoint:         issuer + "/token",
		RegistrationEndpoint:  issuer + "/register",
	}
	d.addTrace(TraceStep{Step: StepServer}, "No document; using the default endpoints of MCP 2025-03-26.")
	d.pinEndpoints()
}

func (d *discovery) pinEndpoints() {
	o, m := d.target.Overrides, &d.found.Server
	if o.AuthorizationEndpoint != "" {
		m.AuthorizationEndpoint = o.AuthorizationEndpoint
		d.addTrace(TraceStep{Step: StepServer, URL: shownURL(o.AuthorizationEndpoint)}, "Using the connector's authorization endpoint.")
	}
	if o.TokenEndpoint != "" {
		m.PinTokenEndpoint(o.TokenEndpoint)
		m.DocumentTokenEndpoint = d.client.asciiURL(m.DocumentTokenEndpoint) // can be the issuer
		d.addTrace(TraceStep{Step: StepServer, URL: shownURL(o.TokenEndpoint)}, "Using the connector's token endpoint.")
	}
}
