package toolsync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// ProbeReport is the result of testing a connector. It is not stored.
type ProbeReport struct {
	OK           bool
	Server       connectors.Server
	Era          string // as in connectors.Connector
	Capabilities []byte // as the server wrote them; nil: none or unreadable
	Tools        []connectors.Definition
	Quarantined  []connectors.Quarantined
	Items        connectors.ItemCounts // numbers of prompts, resources and templates, as far as they could be read
	Stateful     bool                  // the server issued a session id
	SessionHint  string                // how that id begins; empty: not to be shown
	OAuth        string                // host that a 401 names for OAuth (RFC 9728 section 5.1); empty: none
	Error        *fault.Error          // Upstream, or Conflict when a credential is missing; nil if OK
}

// maxProbes bounds the concurrent connection tests of a tenant. Each may take half an hour and hold a tool list
// of 64 MiB.
const maxProbes = 4

func tooManyProbesError() error {
	f := fault.Errorf(fault.RateLimited, "%d connection tests are already running. Try again when one ends.", maxProbes)
	f.RetryAfter = 5
	return f
}

// Probe lists the tools of a draft's server as a sync would and stores only auditEvent. An error concerns the
// draft or Patchbay; failures of the server are in the report.
func (s *Syncer) Probe(
	ctx context.Context, tenant connectors.TenantID, auditEvent *store.Event, d connectors.Draft, secret connectors.Secret,
) (ProbeReport, error) {
	if !s.probes.TryAcquire(tenant) {
		return ProbeReport{}, tooManyProbesError()
	}
	defer s.probes.Release(tenant)
	return s.probeDraft(ctx, tenant, probeRequest{auditEvent: auditEvent, draft: d, secret: secret})
}

// ProbeStored tests a changed draft of a stored connector. Without an entered secret it uses the stored one,
// unless the origin or the authentication changed: saving would drop it then.
func (s *Syncer) ProbeStored(
	ctx context.Context, tenant connectors.TenantID, auditEvent *store.Event, ref connectors.Ref, d connectors.Draft, secret connectors.Secret,
) (ProbeReport, error) {
	if !s.probes.TryAcquire(tenant) {
		return ProbeReport{}, tooManyProbesError()
	}
	defer s.probes.Release(tenant)
	c, err := s.store.Tenant(tenant).Connectors().Get(ctx, ref)
	if err != nil {
		return ProbeReport{}, err
	}
	return s.probeDraft(ctx, tenant, probeRequest{auditEvent: auditEvent, draft: d, secret: secret, stored: &c})
}

// storedAttempts returns the attempts with c's stored credential for the draft. A stored token is renewed with
// c's settings. Only a machine client's secret can be tried with other settings.
func (s *Syncer) storedAttempts(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, d connectors.Draft,
) ([]attempt, error) {
	if !keepsCredential(c, d) {
		return []attempt{{}}, nil // a stored secret goes to no other server, not even in a test
	}
	changed := d.Connector()
	changed.ID = c.ID
	machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
	if machine && changed.CredentialMode == connectors.CredentialShared && !changed.OAuth.Equal(c.OAuth) {
		headers, err := s.credentials.HeadersForDraft(ctx, tenant, changed)
		if headers == nil {
			return []attempt{{}}, err
		}
		return []attempt{{credential: &credentials.Credential{Headers: headers}}}, err
	}
	changed.OAuth, changed.Version = c.OAuth, c.Version
	return s.planAttempts(ctx, tenant, changed, nil)
}

// keepsCredential reports whether c's stored credential survives saving the draft: same server, authorization
// server and client. Tokens from token exchange are for one URL.
func keepsCredential(c connectors.Connector, d connectors.Draft) bool {
	stored, draft := c.OAuth, d.OAuth
	stored.Scopes, stored.Algorithm, stored.TokenEndpointAuthMethod = draft.Scopes, draft.Algorithm, draft.TokenEndpointAuthMethod
	stored.AllowMissingPKCEMetadata = draft.AllowMissingPKCEMetadata
	return c.CredentialOrigin() == d.CredentialOrigin() && c.Command.Equal(d.Command) && c.Auth.Type == d.Auth.Type && stored.Equal(draft) &&
		!connectors.EndsExchangedAccounts(c, d.Connector())
}

// probeRequest is a draft to test, with its secret and its audit entry.
type probeRequest struct {
	auditEvent *store.Event // nil: not audited
	draft      connectors.Draft
	secret     connectors.Secret
	stored     *connectors.Connector // nil: a new connector
}

func (s *Syncer) probeDraft(ctx context.Context, tenant connectors.TenantID, t probeRequest) (ProbeReport, error) {
	d, secret := t.draft.Normalized(), t.secret.Normalized()
	if err := s.validateDraft(t.stored, &d, secret); err != nil {
		return ProbeReport{}, err
	}
	if err := s.recordTest(ctx, tenant, t.auditEvent, d, t.stored); err != nil {
		return ProbeReport{}, err
	}
	if err := s.checkEgress(d); err != nil {
		f := fault.As(err)
		if f.Kind != fault.Upstream {
			return ProbeReport{}, err
		}
		return ProbeReport{Error: f}, nil
	}
	c := d.Connector()
	attempts, err := s.enteredAttempts(safehttp.WithTenant(ctx, tenant.String()), tenant, c, secret)
	attempts = setEnvironment(attempts, d.Env)
	if err == nil && secret.Empty() && d.Env == nil && t.stored != nil {
		attempts, err = s.storedAttempts(ctx, tenant, *t.stored, d)
	}
	if err != nil {
		if t.stored != nil {
			c.ID = t.stored.ID
		}
		return s.signInReport(ctx, tenant, c, secret, err)
	}
	for i := range attempts {
		attempts[i].entered = secret
		if t.stored != nil {
			attempts[i].stored = t.stored.ID
		}
	}
	return s.tryAttempts(ctx, tenant, c, attempts), nil
}

// validateDraft returns the fields of the draft and secret that cannot be tested.
func (s *Syncer) validateDraft(stored *connectors.Connector, d *connectors.Draft, secret connectors.Secret) error {
	if d.Name == "" { // a test needs no name yet
		d.Name, d.Slug = "unnamed", "unnamed" // the slug "test" is refused
	}
	fields := slices.Concat(d.Validate(), d.ValidateSecret(secret, stored == nil), credentials.ValidateKey(d.Auth.Type, d.OAuth, secret, "auth."))
	if err := fault.InvalidFields(fields...); err != nil || d.Transport != connectors.TransportStdio {
		return err
	}
	return fault.InvalidFields(s.programs.Allowed.CheckStart(d.Command, d.Env)...)
}

// checkEgress returns an Upstream fault if the egress rules forbid the draft's URL, and an Invalid one if they
// cannot parse it.
func (s *Syncer) checkEgress(d connectors.Draft) error {
	if s.egress == nil || d.Transport == connectors.TransportStdio {
		return nil
	}
	_, err := s.egress.CheckURL(d.URL)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return explainError(err, connectors.Connector{}, false)
	}
	return fault.InvalidFields(fault.Field{Location: "url", Message: fault.As(err).Message})
}

func setEnvironment(attempts []attempt, env connectors.Environment) []attempt {
	for i := range attempts {
		attempts[i].env = env
	}
	return attempts
}

// enteredAttempts returns the attempt with the entered secret. The client secret of an interactive OAuth client
// gives no access by itself.
func (s *Syncer) enteredAttempts(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, secret connectors.Secret) ([]attempt, error) {
	if secret.Empty() || c.Auth.Type == connectors.AuthOAuth2 {
		return []attempt{{}}, nil
	}
	headers, err := s.credentials.HeadersFor(ctx, tenant, c, secret)
	if err != nil {
		return nil, fmt.Errorf("test a connector: %w", err)
	}
	return []attempt{{credential: &credentials.Credential{Headers: headers}}}, nil
}

func (s *Syncer) tryAttempts(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, attempts []attempt) (report ProbeReport) {
	report.Error = s.useSession(ctx, tenant, c, attempts, func(session *mcp.Session) error {
		report.Server, report.Era = connectors.Server(session.Server()), string(session.Era())
		report.Capabilities, report.Stateful, report.SessionHint = session.Capabilities(), session.IsStateful(), session.IDHint()
		list, err := session.Tools(ctx)
		if err == nil {
			report.Tools, report.Quarantined = toDefinitions(list)
			items := s.readItems(ctx, session, c)
			report.Items = connectors.CountItems(items.items)
			report.Quarantined = append(report.Quarantined, items.quarantined...)
		}
		return err
	})
	report.OK, report.OAuth = report.Error == nil, metadataHost(report.Error)
	return report
}

// metadataHost returns the host of the protected resource metadata that a 401 names; empty: none.
func metadataHost(f *fault.Error) string {
	if f == nil {
		return ""
	}
	e, ok := errors.AsType[*mcp.Error](f.Err)
	if !ok || e.HTTPStatus != http.StatusUnauthorized {
		return ""
	}
	for _, c := range e.Challenges {
		if u, err := url.Parse(c.Params["resource_metadata"]); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return ""
}

// useSession opens a session, calls use and ends the session. After a 401 it goes on with the next attempt. It returns the
// last error.
func (s *Syncer) useSession(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, attempts []attempt, use func(*mcp.Session) error,
) (failure *fault.Error) {
	release, err := s.acquireSyncProgram(ctx, tenant, c, attempts[0].env) // a program has one attempt
	if err != nil {
		return explainError(err, c, false)
	}
	defer release()
	var last attempt
	for _, a := range attempts {
		session, err := s.dialer.Dial(ctx, s.newTarget(ctx, tenant, c, a))
		if err == nil {
			err = use(session)
			session.Close(ctx)
		}
		if err == nil {
			return nil
		}
		failure, last = explainError(err, c, a.credential != nil), a
		if !isUnauthorized(err) {
			break
		}
	}
	s.addSaid(ctx, tenant, c, last, failure)
	return failure
}
