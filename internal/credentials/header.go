package credentials

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// Header is one authentication header. Of an HTTP API it may be a query parameter or a cookie.
type Header struct {
	Name  string
	Value secret.Text
	In    connectors.KeyIn
}

// Apply sets the headers in h. It leaves out query parameters and cookies.
func Apply(h http.Header, headers []Header) {
	for _, header := range headers {
		if header.In == connectors.KeyInHeader {
			h.Set(header.Name, header.Value.Reveal())
		}
	}
}

// Headers returns the headers of a static secret. Types that use access tokens have none.
func Headers(a connectors.Auth, s connectors.Secret) ([]Header, error) {
	switch a.Type {
	case connectors.AuthNone:
		return nil, nil
	case connectors.AuthBearer:
		return bearerHeaders(s.Token), nil
	case connectors.AuthAPIKey:
		name := a.Header
		if name == "" {
			name = connectors.DefaultAPIKeyHeader
		}
		return []Header{{Name: name, Value: s.Key, In: a.In}}, nil
	case connectors.AuthBasic:
		// RFC 7617 section 2, in UTF-8
		pair := base64.StdEncoding.EncodeToString([]byte(s.Username + ":" + s.Password.Reveal()))
		return []Header{{Name: "Authorization", Value: secret.Text("Basic " + pair)}}, nil
	default:
		return nil, fmt.Errorf("write the header of auth type %q: not known", a.Type)
	}
}

// bearerHeaders is the header of a token (RFC 6750 section 2.1).
func bearerHeaders(token secret.Text) []Header {
	return []Header{{Name: "Authorization", Value: "Bearer " + token}}
}
