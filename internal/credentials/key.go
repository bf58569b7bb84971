package credentials

import (
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// ValidateKey returns the fault of a private key that cannot sign with the configured algorithm. prefix starts
// its location. PEM was checked before.
func ValidateKey(t connectors.AuthType, settings connectors.OAuthSettings, s connectors.Secret, prefix string) []fault.Field {
	if t != connectors.AuthPrivateKeyJWT || s.PrivateKey.Empty() || len(s.Validate(t, "")) > 0 {
		return nil
	}
	_, err := oauth.ParsePrivateKey(oauth.Secret(s.PrivateKey.Reveal()), settings.Algorithm)
	unfit, ok := errors.AsType[*oauth.Error](err)
	if !ok {
		return nil
	}
	return []fault.Field{{Location: prefix + "private_key", Message: "This key can't be used: " + unfit.Detail + "."}}
}
