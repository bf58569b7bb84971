package credentials

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

const (
	maxWorkloadToken = 16 << 10         // bytes of a file
	workloadMargin   = 10 * time.Second // a JWT with less validity is not sent
)

const reasonWorkload = "The authorization server refuses the workload's token. Check what it expects of its issuer, subject and client."

// findWorkloadToken returns the operator's token of that name for the tenant and the connector's server. An admin chooses the server and,
// by its metadata, the authorization server. So the operator names the servers, and nothing of the connector overrides metadata.
func (r *Resolver) findWorkloadToken(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, name string) (config.WorkloadToken, error) {
	self, err := r.store.Tenant(tenant).Self(ctx)
	if err != nil {
		return config.WorkloadToken{}, err
	}
	t, ok := r.workloads[name]
	if !ok || !t.IsForTenant(self.Slug) {
		return t, fault.Errorf(fault.Conflict, "The operator offers no workload token %q. Choose another one.", name)
	}
	if !t.IsForServer(c.CredentialOrigin()) {
		return t, fault.Errorf(fault.Conflict, "The workload token %q isn't for this server. The operator can allow its host in PATCHBAY_WORKLOAD_TOKENS.", name)
	}
	if c.OAuth.Issuer != "" || c.OAuth.TokenEndpoint != "" || c.OAuth.Resource != nil {
		return t, fault.Errorf(fault.Conflict, "With a workload token, the issuer, token endpoint and resource come from metadata. Empty these settings.")
	}
	return t, nil
}

// readWorkloadToken reads the file anew, because it is rotated. The JWT is for one authorization server alone, by its audience
// (RFC 7523 section 3): a server of an admin's choice cannot get it.
func (r *Resolver) readWorkloadToken(t config.WorkloadToken, server oauth.Metadata) (oauth.Secret, error) {
	if server.Assumed {
		return "", fault.Errorf(fault.Conflict, "With a workload token, the authorization server needs metadata.")
	}
	token, err := readTokenFile(t.File)
	if err != nil {
		return "", fault.Wrap(fault.Conflict, err, "The workload's token can't be read. Ask the operator.")
	}
	audience := oauth.AssertionAudience(token)
	if len(audience) != 1 || checkSameServer(audience[0], server.Issuer) != nil || audience[0] == "" {
		return "", fault.Errorf(fault.Conflict, "The workload's token isn't for the authorization server %s alone. The operator sets its audience.", server.Issuer)
	}
	if !r.now().Add(workloadMargin).Before(oauth.IdentityExpiry(token)) {
		return "", fault.Errorf(fault.Conflict, "The workload's token has expired. Ask the operator.")
	}
	return token, nil
}

// readTokenFile reads a JWT from a file of bounded size. A pipe could block.
func readTokenFile(path string) (oauth.Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxWorkloadToken {
		return "", fault.Errorf(fault.Invalid, "not a file of at most 16 KiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxWorkloadToken))
	return oauth.Secret(strings.TrimSpace(string(text))), err
}
