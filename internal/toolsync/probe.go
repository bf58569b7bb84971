package toolsync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// ProbeReport is what a test of a connector found. Nothing of it is stored.
type ProbeReport struct {
	OK          bool
	Server      connectors.Server
	Era         string // how the server is spoken with, as of a connector
	Tools       []connectors.Definition
	Quarantined []connectors.Quarantined
	Error       *fault.Error // Upstream, or Conflict for want of a credential; nil where OK
}

// Probe talks to the server of a draft as a sync would, and stores nothing but asked, the audit log's entry of whoever asks for it. The error is about the draft, or about us; what
// the server does wrong stands in the report.
func (s *Syncer) Probe(
	ctx context.Context, tenant connectors.TenantID, asked *store.Event, d connectors.Draft, secret connectors.Secret,
) (ProbeReport, error) {
	leave, err := s.testing.enter(tenant)
	if err != nil {
		return ProbeReport{}, err
	}
	defer leave()
	return s.probe(ctx, tenant, trial{asked: asked, draft: d, secret: secret})
}

// ProbeStored is Probe for a changed draft of a stored connector: where no secret is entered, the stored one is used, unless
// the URL moved to another origin or the authentication became another. Then there would be none after saving, either.
func (s *Syncer) ProbeStored(
	ctx context.Context, tenant connectors.TenantID, asked *store.Event, ref connectors.Ref, d connectors.Draft, secret connectors.Secret,
) (ProbeReport, error) {
	leave, err := s.testing.enter(tenant)
	if err != nil {
		return ProbeReport{}, err
	}
	defer leave()
	c, err := s.store.Tenant(tenant).Connector(ctx, ref)
	if err != nil {
		return ProbeReport{}, err
	}
	return s.probe(ctx, tenant, trial{asked: asked, draft: d, secret: secret, stored: &c})
}

// withStored are the attempts with what is stored of c, for its draft. A token that was stored is renewed as c is, and not as the
// draft would have it; only a machine's secret can be tried with other settings.
func (s *Syncer) withStored(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, d connectors.Draft,
) ([]attempt, error) {
	if !keepsCredential(c, d) {
		return []attempt{{}}, nil // a stored secret goes to nobody else, not even in a test
	}
	now := d.Connector()
	now.ID = c.ID
	machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
	if machine && now.CredentialMode == connectors.CredentialShared && !now.OAuth.Equal(c.OAuth) {
		headers, err := s.credentials.Trial(ctx, tenant, now)
		if headers == nil {
			return []attempt{{}}, err
		}
		return []attempt{{credential: &credentials.Usable{Headers: headers}}}, err
	}
	now.OAuth = c.OAuth
	return s.plan(ctx, tenant, now, nil)
}

// keepsCredential tells whether what is stored of c would outlive the saving of its draft: it is for the same server still, and from
// the same authorization server, by the same client.
func keepsCredential(c connectors.Connector, d connectors.Draft) bool {
	was, is := c.OAuth, d.OAuth
	was.Scopes, was.Algorithm, was.TokenEndpointAuthMethod = is.Scopes, is.Algorithm, is.TokenEndpointAuthMethod
	was.AllowMissingPKCEMetadata = is.AllowMissingPKCEMetadata
	return connectors.Origin(c.URL) == connectors.Origin(d.URL) && c.Command.Equal(d.Command) && c.Auth.Type == d.Auth.Type && was.Equal(is)
}

// trial is what is tested, and by whom.
type trial struct {
	asked  *store.Event // nil: by nobody that the audit log knows
	draft  connectors.Draft
	secret connectors.Secret
	stored *connectors.Connector // of which it is a draft; nil: of a new one
}

func (s *Syncer) probe(ctx context.Context, tenant connectors.TenantID, t trial) (ProbeReport, error) {
	d, secret := t.draft.Normalized(), t.secret.Normalized()
	if err := s.fit(t.stored, &d, secret); err != nil {
		return ProbeReport{}, err
	}
	if err := s.recordTest(ctx, tenant, t.asked, d, t.stored); err != nil {
		return ProbeReport{}, err
	}
	if err := s.allowed(d); err != nil {
		f := fault.As(err)
		if f.Kind != fault.Upstream {
			return ProbeReport{}, err
		}
		return ProbeReport{Error: f}, nil
	}
	c := d.Connector()
	attempts, err := s.entered(safehttp.WithTenant(ctx, tenant.String()), c, secret)
	attempts = withEnvironment(attempts, d.Env)
	if err == nil && secret.Empty() && d.Env == nil && t.stored != nil {
		attempts, err = s.withStored(ctx, tenant, *t.stored, d)
	}
	if err != nil {
		return signInReport(err, c)
	}
	return s.try(ctx, tenant, c, attempts), nil
}

// fit tells whether a draft can be tested.
func (s *Syncer) fit(stored *connectors.Connector, d *connectors.Draft, secret connectors.Secret) error {
	if d.Name == "" { // a test needs no name yet
		d.Name, d.Slug = "unnamed", "unnamed" // the slug "test" is refused
	}
	fields := slices.Concat(d.Validate(), d.ValidateSecret(secret, stored == nil), credentials.UnfitKey(d.Auth.Type, d.OAuth, secret, "auth."))
	if err := fault.InvalidFields(fields...); err != nil || d.Transport != connectors.TransportStdio {
		return err
	}
	return fault.InvalidFields(s.programs.Allowed.CheckStart(d.Command, d.Env)...)
}

// allowed tells whether the egress rules take the draft's URL: an Upstream fault where they forbid it, an Invalid one where they cannot
// read it.
func (s *Syncer) allowed(d connectors.Draft) error {
	if s.egress == nil || d.Transport == connectors.TransportStdio {
		return nil
	}
	_, err := s.egress.CheckURL(d.URL)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return explain(err, connectors.Connector{}, false)
	}
	return fault.InvalidFields(fault.Field{Location: "url", Message: fault.As(err).Message})
}

// withEnvironment is the attempts with the environment that was typed.
func withEnvironment(attempts []attempt, env connectors.Environment) []attempt {
	for i := range attempts {
		attempts[i].env = env
	}
	return attempts
}

// entered is the attempt with the secret that was typed. The secret of a client with which a person signs in opens nothing by itself.
func (s *Syncer) entered(ctx context.Context, c connectors.Connector, secret connectors.Secret) ([]attempt, error) {
	if secret.Empty() || c.Auth.Type == connectors.AuthOAuth2 {
		return []attempt{{}}, nil
	}
	headers, err := s.credentials.Entered(ctx, c, secret)
	if err != nil {
		return nil, fmt.Errorf("test a connector: %w", err)
	}
	return []attempt{{credential: &credentials.Usable{Headers: headers}}}, nil
}

func (s *Syncer) try(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, attempts []attempt) (rep ProbeReport) {
	leave, err := s.seat(ctx, tenant, c, attempts[0].env) // a program has one attempt
	if err != nil {
		return ProbeReport{Error: explain(err, c, false)}
	}
	defer leave()
	for _, a := range attempts {
		session, err := s.dialer.Dial(ctx, s.target(ctx, tenant, c, a))
		if err == nil {
			rep.Server, rep.Era = connectors.Server(session.Server()), string(session.Era())
			var list mcp.ToolList
			if list, err = session.Tools(ctx); err == nil {
				rep.Tools, rep.Quarantined = definitions(list)
			}
			session.Close(ctx)
		}
		if err == nil {
			rep.OK, rep.Error = true, nil
			return rep
		}
		rep.Error = explain(err, c, a.credential != nil)
		if !asksForCredential(err) {
			return rep
		}
	}
	return rep
}
