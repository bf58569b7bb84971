package credentials

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/redact"
	"patchbay/internal/secret"
)

// excerptTimeout bounds reading the secrets of a connector. After it nothing is shown of what the server said.
const excerptTimeout = time.Second

// UsedSecrets are secrets that a request used, stored or not.
type UsedSecrets struct {
	Headers []Header
	Env     connectors.Environment
	Entered connectors.Secret
	Texts   []secret.Text // tokens, codes
}

// Excerpt returns what an admin may read of a remote text: see [redact.Excerpt]. It removes the secrets that the request
// used, and all secrets that are stored for the connector. A connector with the zero id is not stored. The excerpt is
// empty if the stored secrets cannot be read.
func (r *Resolver) Excerpt(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, source redact.Source, used UsedSecrets) string {
	if source.Text == "" {
		return ""
	}
	var stored *redact.Secrets
	if c.ID != (connectors.ConnectorID{}) {
		var err error
		if stored, err = r.loadSecrets(ctx, tenant, c.ID); err != nil {
			r.log.WarnContext(ctx, "server text not shown", slog.String("connector_id", c.ID.String()), slog.Any("error", err))
			return ""
		}
	}
	return redact.Excerpt(source, stored, redact.NewSecrets(append(used.listSecrets(), headerValues(c)...)...))
}

// ReadUpstream returns what the server of a failed request or token request said, for admins; nil: nothing, or err is no
// failure of a server.
func (r *Resolver) ReadUpstream(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, err error, used UsedSecrets,
) *connectors.Upstream {
	remote, source, ok := FindRemote(err)
	if !ok {
		return nil
	}
	remote.Said = r.Excerpt(ctx, tenant, c, source, used)
	return connectors.UpstreamOf(&remote)
}

// FindRemote returns the status of a failed request or token request, and what the server wrote. ok is false for other
// errors.
func FindRemote(err error) (remote fault.Remote, source redact.Source, ok bool) {
	if failure, ok := errors.AsType[*mcp.Error](err); ok {
		return fault.Remote{HTTPStatus: failure.HTTPStatus, ExitStatus: failure.ExitCode}, NewSource(failure), true
	}
	if failure, ok := errors.AsType[*oauth.Error](err); ok {
		return fault.Remote{HTTPStatus: failure.HTTPStatus}, NewResponseSource(failure), true
	}
	return fault.Remote{}, redact.Source{}, false
}

// headerValues returns the values of the connector's own headers that are credentials by their names.
func headerValues(c connectors.Connector) (values []string) {
	for name, value := range c.Headers {
		if redact.IsSecretName(name) {
			values = append(values, headerSecrets(value)...)
		}
	}
	return values
}

// NewSource returns what the server of a failure wrote. Of a program's output the excerpt is the end.
func NewSource(e *mcp.Error) redact.Source {
	remote := e.RemoteText()
	text, cutStart, cutEnd := remote.Reveal()
	return redact.Source{Text: text, CutStart: cutStart, CutEnd: cutEnd, KeepEnd: remote.IsTail()}
}

// NewResponseSource returns the response of a failed step of OAuth.
func NewResponseSource(e *oauth.Error) redact.Source {
	return redact.Source{Text: e.Response.Reveal(), CutEnd: e.ResponseCut}
}

// loadSecrets reads the stored secrets of a connector, once for concurrent failures.
func (r *Resolver) loadSecrets(ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID) (*redact.Secrets, error) {
	loaded, err, _ := r.secretLoads.Do(tenant.String()+id.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), excerptTimeout)
		defer cancel()
		opened, err := r.store.Vault(tenant).ConnectorSecrets(ctx, id)
		return redact.NewSecrets(revealAll(opened)...), err
	})
	secrets, _ := loaded.(*redact.Secrets)
	return secrets, err
}

func revealAll(secrets []secret.Text) []string {
	all := make([]string, len(secrets))
	for i, s := range secrets {
		all[i] = s.Reveal()
	}
	return all
}

func (u UsedSecrets) listSecrets() []string {
	all := revealAll(u.Texts)
	for _, header := range u.Headers {
		all = append(all, headerSecrets(header.Value.Reveal())...)
	}
	for _, value := range u.Env {
		all = append(all, value.Reveal())
	}
	s := u.Entered
	all = append(all, s.Token.Reveal(), s.Key.Reveal(), s.Password.Reveal(), s.ClientSecret.Reveal(), s.PrivateKey.Reveal())
	if s.Password == "" {
		all = append(all, s.Username)
	}
	return all
}

// headerSecrets returns the secrets in the value of an authentication header: the value without its scheme, and the
// password of Basic (RFC 7617).
func headerSecrets(value string) []string {
	scheme, rest, hasScheme := strings.Cut(value, " ")
	switch {
	case !hasScheme:
		return []string{value}
	case !strings.EqualFold(scheme, "Basic"):
		return []string{rest}
	}
	pair, err := base64.StdEncoding.DecodeString(rest)
	name, password, _ := strings.Cut(string(pair), ":")
	if err == nil && password == "" {
		return []string{rest, name}
	}
	return []string{rest, password}
}
