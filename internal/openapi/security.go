package openapi

import (
	"net/url"
	"strings"

	"patchbay/internal/jsonschema"
)

// SchemeType is a way to sign in.
type SchemeType string

// The ways.
const (
	SchemeAPIKey        SchemeType = "apiKey"
	SchemeBasic         SchemeType = "basic"
	SchemeBearer        SchemeType = "bearer"
	SchemeOAuth2        SchemeType = "oauth2"
	SchemeOpenIDConnect SchemeType = "openIdConnect"
	SchemeMutualTLS     SchemeType = "mutualTLS"
	SchemeOther         SchemeType = "other" // an http scheme that isn't supported
)

// SecurityScheme is a way to sign in that a document offers.
type SecurityScheme struct {
	Name             string
	Type             SchemeType
	Description      string
	In               string // of an API key: header, query or cookie
	Parameter        string // name of an API key's header, query parameter or cookie
	Flows            []Flow
	OpenIDConnectURL string
}

// Flow is a flow of OAuth 2.
type Flow struct {
	Kind             string // authorizationCode, clientCredentials, implicit, password or deviceAuthorization
	AuthorizationURL string
	TokenURL         string
	RefreshURL       string
	DeviceURL        string
	Scopes           []Scope
}

// Scope is a scope of a flow.
type Scope struct{ Name, Description string }

// Requirement is a set of schemes that are needed together. An empty one means that a call needs none.
type Requirement []SchemeUse

// SchemeUse is a scheme with the scopes that an operation needs.
type SchemeUse struct {
	Scheme string   `json:"scheme"`
	Scopes []string `json:"scopes,omitempty"`
}

const maxSchemes = 50

// readSchemes reads the security schemes.
func (d *Document) readSchemes() {
	all := d.rootValue().Get("components").Get("securitySchemes")
	if d.dialect == swagger2 {
		all = d.rootValue().Get("securityDefinitions")
	}
	for _, m := range all.Fields() {
		v, _ := d.followRef(value{m.Value, all.source})
		if v.Node == nil || len(d.Schemes) == maxSchemes {
			continue
		}
		d.Schemes = append(d.Schemes, d.readScheme(m.Name, v))
	}
	for i := range d.Schemes {
		d.schemes[d.Schemes[i].Name] = &d.Schemes[i]
	}
}

func (d *Document) readScheme(name string, v value) SecurityScheme {
	s := SecurityScheme{Name: name, Type: SchemeOther, Description: shortenText(v.GetText("description"), 1000)}
	switch v.GetText("type") {
	case "apiKey":
		s.Type, s.In, s.Parameter = SchemeAPIKey, v.GetText("in"), v.GetText("name")
	case "basic":
		s.Type = SchemeBasic
	case "http":
		switch strings.ToLower(v.GetText("scheme")) {
		case "basic":
			s.Type = SchemeBasic
		case "bearer":
			s.Type = SchemeBearer
		}
	case "oauth2":
		s.Type, s.Flows = SchemeOAuth2, d.readFlows(v)
	case "openIdConnect":
		s.Type, s.OpenIDConnectURL = SchemeOpenIDConnect, d.absoluteURL(v.GetText("openIdConnectUrl"))
	case "mutualTLS":
		s.Type = SchemeMutualTLS
	}
	return s
}

// flowKinds are the flows, with their names in Swagger 2.
var flowKinds = []struct{ kind, swagger string }{
	{"authorizationCode", "accessCode"}, {"clientCredentials", "application"}, {"deviceAuthorization", ""}, {"implicit", "implicit"}, {"password", "password"},
}

func (d *Document) readFlows(v value) (flows []Flow) {
	for _, k := range flowKinds {
		flow := v.Get("flows").Get(k.kind)
		if d.dialect == swagger2 && k.swagger != "" && v.GetText("flow") == k.swagger {
			flow = v
		}
		if !flow.Is(jsonschema.Object) {
			continue
		}
		f := Flow{
			Kind: k.kind, AuthorizationURL: d.absoluteURL(flow.GetText("authorizationUrl")), TokenURL: d.absoluteURL(flow.GetText("tokenUrl")),
			RefreshURL: d.absoluteURL(flow.GetText("refreshUrl")), DeviceURL: d.absoluteURL(flow.GetText("deviceAuthorizationUrl")),
		}
		for _, m := range flow.Get("scopes").Fields() {
			if len(f.Scopes) < 1000 && m.Name != "" {
				f.Scopes = append(f.Scopes, Scope{m.Name, shortenText(m.Value.Text(), 300)})
			}
		}
		flows = append(flows, f)
	}
	return flows
}

// absoluteURL resolves an address of a scheme against the document's. Empty: it is none of HTTP.
func (d *Document) absoluteURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return ""
	}
	if base, err := url.Parse(d.options.URL); err == nil && !u.IsAbs() {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// readRequirements reads the requirements of a document or an operation. said is false if it has none of its own.
func readRequirements(v value) (all []Requirement, said bool) {
	if !v.Is(jsonschema.Array) {
		return nil, false
	}
	for _, item := range v.Values() {
		if len(all) == maxSchemes {
			break
		}
		requirement := Requirement{}
		for _, m := range item.Fields() {
			use := SchemeUse{Scheme: m.Name}
			for _, scope := range m.Value.List() {
				if text := scope.Text(); text != "" && len(use.Scopes) < 100 {
					use.Scopes = append(use.Scopes, text)
				}
			}
			if len(requirement) < maxSchemes {
				requirement = append(requirement, use)
			}
		}
		all = append(all, requirement)
	}
	return all, true
}
