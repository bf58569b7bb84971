package config

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const workloadTokens = "PATCHBAY_WORKLOAD_TOKENS"

// WorkloadToken is a file with a JWT of the workload that Patchbay runs as, with which connectors sign in.
type WorkloadToken struct {
	File    string   `json:"file"`    // absolute path
	Servers []string `json:"servers"` // host names of the servers that get access tokens for it
	Tenants []string `json:"tenants"` // slugs; "*": all
}

// IsForTenant reports whether a tenant's admins may choose the token.
func (t WorkloadToken) IsForTenant(slug string) bool {
	return slices.Contains(t.Tenants, slug) || slices.Contains(t.Tenants, "*")
}

// IsForServer reports whether a server at the origin may get access tokens for it.
func (t WorkloadToken) IsForServer(origin string) bool {
	server, err := url.Parse(origin)
	return err == nil && slices.Contains(t.Servers, strings.ToLower(server.Hostname()))
}

var workloadNameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)

// parseWorkloadTokens parses a JSON object of tokens by name.
func (c *fieldErrors) parseWorkloadTokens(text string) map[string]WorkloadToken {
	if text == "" {
		return nil
	}
	var tokens map[string]WorkloadToken
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&tokens); err != nil {
		c.addField(workloadTokens, `must be JSON such as {"name":{"file":"/path","servers":["mcp.example.com"],"tenants":["acme"]}}.`)
		return nil
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // a decoder returns it bare
		c.addField(workloadTokens, "must be a single JSON object.")
	}
	for name, t := range tokens {
		c.checkWorkloadToken(name, t)
	}
	return tokens
}

func (c *fieldErrors) checkWorkloadToken(name string, t WorkloadToken) {
	switch {
	case !workloadNameForm.MatchString(name):
		c.addField(workloadTokens, "must have names of a-z, 0-9 and hyphens; %q is not.", name)
	case !filepath.IsAbs(t.File):
		c.addField(workloadTokens, "must have an absolute path as the file of %q.", name)
	case len(t.Servers) == 0:
		c.addField(workloadTokens, "must name the servers of %q: the host names that may get access tokens for it.", name)
	case len(t.Tenants) == 0:
		c.addField(workloadTokens, `must name the tenants of %q, or "*" for all.`, name)
	}
	for _, host := range t.Servers {
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/:*@ ") {
			c.addField(workloadTokens, "must have lower-case host names without a port as servers; %q is not.", host)
		}
	}
}
