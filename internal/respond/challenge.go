package respond

import (
	"cmp"

	"patchbay/internal/fault"
	"patchbay/internal/jws"
)

// ResourceChallenge returns WWW-Authenticate of a resource (RFC 6750 section 3) that refuses an Authorization header; empty: there was
// none. It names the resource metadata (RFC 9728 section 5.1). A DPoP token, or a bound one in another scheme, gets the scheme DPoP
// with the algorithms (RFC 9449 section 7.1).
func ResourceChallenge(f *fault.Error, authorization, metadata string) string {
	named := `resource_metadata="` + metadata + `"`
	isToken := f.Code == jws.CodeInvalidProof || f.Code == jws.CodeInvalidToken
	switch {
	case authorization == "":
		return "Bearer " + named
	case isToken || jws.ParseAuthorization(authorization).Proves:
		code := jws.CodeInvalidToken
		if isToken {
			code = cmp.Or(f.Code, code)
		}
		return "DPoP " + named + `, error="` + code + `", algs="` + jws.AlgorithmNames() + `"`
	default:
		return "Bearer " + named + `, error="invalid_token"`
	}
}
