package credentials

import (
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// UnfitKey refuses a private key that could sign nothing, or not with the algorithm that is set. Locations begin with prefix. What is
// no PEM block has been refused already.
func UnfitKey(t connectors.AuthType, settings connectors.OAuthSettings, s connectors.Secret, prefix string) []fault.Field {
	if t != connectors.AuthPrivateKeyJWT || s.PrivateKey.Empty() || len(s.Validate(t, "")) > 0 {
		return nil
	}
	_, err := oauth.ParsePrivateKey(oauth.Secret(s.PrivateKey.Reveal()), settings.Algorithm)
	unfit, ok := errors.AsType[*oauth.Error](err)
	if !ok {
		return nil
	}
	return []fault.Field{{Location: prefix + "private_key", Message: "This key cannot be used: " + unfit.Detail + "."}}
}
