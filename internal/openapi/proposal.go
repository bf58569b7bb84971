package openapi

import (
	"cmp"
	"slices"
	"strings"
)

// Proposal is a way to sign in that a document offers, in the words of a connector.
type Proposal struct {
	Scheme      string
	Description string
	Type        string // api_key, basic, bearer, oauth2 or client_credentials
	In          string // of an API key: header, query or cookie
	Name        string // of its header, query parameter or cookie
	Operations  int    // that accept it alone

	AuthorizationURL string // of oauth2
	TokenURL         string
	Issuer           string   // of OpenID Connect, in place of both addresses
	Scopes           []string // that the operations need
}

// Proposals returns the ways to sign in for operations, the most useful first. Those that no connector has are left out.
func (d *Document) Proposals(operations []*Operation) []Proposal {
	var all []Proposal
	for _, s := range d.Schemes {
		base := Proposal{Scheme: s.Name, Description: s.Description, Scopes: scopesFor(operations, s.Name), Operations: countAccepting(operations, s.Name)}
		all = append(all, s.proposeWays(base)...)
	}
	slices.SortStableFunc(all, func(a, b Proposal) int { return cmp.Compare(b.Operations, a.Operations) })
	return all
}

// openIDConfiguration is the path of the metadata below an issuer (OpenID Connect Discovery 1.0, section 4).
const openIDConfiguration = "/.well-known/openid-configuration"

// proposeWays completes a proposal, once for each flow that a connector has.
func (s SecurityScheme) proposeWays(p Proposal) (all []Proposal) {
	switch {
	case s.Type == SchemeAPIKey && slices.Contains([]string{"header", "query", "cookie"}, s.In) && s.Parameter != "":
		p.Type, p.In, p.Name = "api_key", s.In, s.Parameter
	case s.Type == SchemeBasic, s.Type == SchemeBearer:
		p.Type = string(s.Type)
	case s.Type == SchemeOpenIDConnect && strings.HasSuffix(s.OpenIDConnectURL, openIDConfiguration):
		p.Type, p.Issuer = "oauth2", strings.TrimSuffix(s.OpenIDConnectURL, openIDConfiguration)
	case s.Type == SchemeOAuth2:
		for _, flow := range s.Flows {
			kind := map[string]string{"authorizationCode": "oauth2", "clientCredentials": "client_credentials"}[flow.Kind]
			if kind == "" || flow.TokenURL == "" || kind == "oauth2" && flow.AuthorizationURL == "" {
				continue
			}
			p.Type, p.TokenURL, p.AuthorizationURL = kind, flow.TokenURL, ""
			if kind == "oauth2" {
				p.AuthorizationURL = flow.AuthorizationURL
			}
			all = append(all, p)
		}
		return all
	default:
		return nil
	}
	return []Proposal{p}
}

// Scopes returns the scopes of OAuth that an operation needs, by its first alternative with a scheme of OAuth.
func (d *Document) Scopes(o *Operation) []string {
	for _, requirement := range o.Security {
		for _, use := range requirement {
			if s := d.schemes[use.Scheme]; s != nil && (s.Type == SchemeOAuth2 || s.Type == SchemeOpenIDConnect) {
				return use.Scopes
			}
		}
	}
	return nil
}

// scopesFor returns the scopes of a scheme that the operations need, in order.
func scopesFor(operations []*Operation, scheme string) (scopes []string) {
	for _, o := range operations {
		for _, requirement := range o.Security {
			at := slices.IndexFunc(requirement, func(use SchemeUse) bool { return use.Scheme == scheme })
			if at >= 0 {
				scopes = append(scopes, requirement[at].Scopes...)
				break
			}
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

func countAccepting(operations []*Operation, scheme string) (n int) {
	for _, o := range operations {
		if slices.ContainsFunc(o.Security, func(r Requirement) bool { return len(r) == 1 && r[0].Scheme == scheme }) {
			n++
		}
	}
	return n
}

// Address returns the address of the API: of the document's first server that can be used. A document without servers has that of the
// first operation with one of keys, else that of its first operation.
func (d *Document) Address(keys ...string) (string, error) {
	if len(d.Servers) > 0 {
		return d.chooseServer(&Operation{})
	}
	at := slices.IndexFunc(d.Operations, func(o *Operation) bool { return slices.Contains(keys, o.Key()) })
	return d.chooseServer(d.Operations[max(at, 0)])
}
