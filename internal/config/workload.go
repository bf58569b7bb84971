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
	Servers []string `json:"servers"` // that get access tokens for it: host names with HTTPS on its usual port, or origins
	Tenants []string `json:"tenants"` // slugs; "*": all
}

// IsForTenant reports whether a tenant's admins may choose the token.
func (t WorkloadToken) IsForTenant(slug string) bool {
	return slices.Contains(t.Tenants, slug) || slices.Contains(t.Tenants, "*")
}

// IsForServer reports whether a server at the origin may get access tokens for it. Another service on the host may not. A server on this
// machine, which needs PATCHBAY_EGRESS=local, may have any port.
func (t WorkloadToken) IsForServer(origin string) bool {
	server, err := url.Parse(strings.ToLower(origin))
	if err != nil {
		return false
	}
	host := server.Hostname()
	if host == "localhost" || host == "127.0.0.1" || host == "::1" || fullOrigin(server) == "https://"+host+":443" {
		return slices.Contains(t.Servers, host) || t.hasOrigin(server)
	}
	return t.hasOrigin(server)
}

func (t WorkloadToken) hasOrigin(server *url.URL) bool {
	return slices.ContainsFunc(t.Servers, func(entry string) bool {
		u, err := url.Parse(entry)
		return err == nil && u.Host != "" && fullOrigin(u) == fullOrigin(server)
	})
}

// fullOrigin is an origin with its port.
func fullOrigin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
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
	if _, err := d.Token(); err != io.EOF {
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
		c.addField(workloadTokens, "must name the servers of %q: the host names or origins that may get access tokens for it.", name)
	case len(t.Tenants) == 0:
		c.addField(workloadTokens, `must name the tenants of %q, or "*" for all.`, name)
	}
	for _, server := range t.Servers {
		if !isServerEntry(server) {
			c.addField(workloadTokens, "must have lower-case host names or origins as servers; %q is not.", server)
		}
	}
}

func isServerEntry(text string) bool {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return (u.Scheme == "https" || u.Scheme == "http") && text == u.Scheme+"://"+strings.ToLower(u.Host)
	}
	return text != "" && text == strings.ToLower(text) && !strings.ContainsAny(text, "/:*@ ")
}
