package credentials

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// Header is one header that authenticates.
type Header struct {
	Name  string
	Value secret.Text
}

// Apply sets the headers in h.
func Apply(h http.Header, headers []Header) {
	for _, one := range headers {
		h.Set(one.Name, one.Value.Reveal())
	}
}

// Headers writes a secret that goes out as it is as the headers of its auth type. What stands for a token that somebody else gives
// out has none.
func Headers(a connectors.Auth, s connectors.Secret) ([]Header, error) {
	switch a.Type {
	case connectors.AuthNone:
		return nil, nil
	case connectors.AuthBearer:
		return bearer(s.Token), nil
	case connectors.AuthAPIKey:
		name := a.Header
		if name == "" {
			name = connectors.DefaultAPIKeyHeader
		}
		return []Header{{name, s.Key}}, nil
	case connectors.AuthBasic:
		// RFC 7617 §2, with the charset that everybody uses.
		pair := base64.StdEncoding.EncodeToString([]byte(s.Username + ":" + s.Password.Reveal()))
		return []Header{{"Authorization", secret.Text("Basic " + pair)}}, nil
	default:
		return nil, fmt.Errorf("write the header of auth type %q: not known", a.Type)
	}
}

// bearer is the header of a token (RFC 6750 §2.1).
func bearer(token secret.Text) []Header { return []Header{{"Authorization", "Bearer " + token}} }
