package sso

import (
	"context"
	"errors"
	"net"
	"net/http"

	"golang.org/x/oauth2"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// newRefusal returns the fault of a failed sign-in, with a type and a sentence. It has no cause: the library's
// errors quote the provider, possibly personal data.
func newRefusal(typ string, kind fault.Kind, sentence string, args ...any) error {
	return fault.Errorf(kind, sentence, args...).WithType(typ)
}

// errNotBegun is the fault of a callback without a pending flow of this browser.
func errNotBegun() error {
	return newRefusal("sso-state", fault.Denied, "This sign-in didn't start in this browser, or has already ended. Start again.")
}

func errForeignAddress() error {
	return newRefusal("sso-domain", fault.Denied, "Your email domain isn't one of this organisation's.")
}

func errNoGroup() error {
	return newRefusal("sso-no-group", fault.Denied, "None of your provider groups has access here. Ask an owner.")
}

// newIssuerMismatch is the fault of a provider with another issuer than its URL.
func newIssuerMismatch(issuer string) error {
	return newRefusal("sso-discovery", fault.Upstream, "The provider at %s reports a different issuer. Enter its issuer exactly, including any trailing slash.", hostFor(issuer))
}

// newUnreachable explains why a provider's response is unusable.
func newUnreachable(issuer string, err error) error {
	const typ = "sso-unreachable"
	host := hostFor(issuer)
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return newRefusal(typ, fault.Upstream, "%s", blocked.Why)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return newRefusal(typ, fault.Upstream, "The provider %s sent too much data.", host)
	}
	if slow, ok := errors.AsType[net.Error](err); errors.Is(err, context.DeadlineExceeded) || ok && slow.Timeout() {
		return newRefusal(typ, fault.Upstream, "The provider %s didn't answer in time. Try again in a minute.", host)
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return newRefusal(typ, fault.Upstream, "The provider %s can't be reached. Try again in a minute.", host)
	}
	return newRefusal(typ, fault.Upstream, "The provider %s doesn't respond like an OpenID provider.", host)
}

// newExchangeError explains a failed code exchange (RFC 6749 section 5.2).
func newExchangeError(issuer string, err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return newUnreachable(issuer, err)
	}
	host := hostFor(issuer)
	if said.ErrorCode == "invalid_client" || said.Response != nil && said.Response.StatusCode == http.StatusUnauthorized {
		return newRefusal("sso-client", fault.Upstream, "The provider %s doesn't know this client, or its secret is wrong. An owner can fix that in the settings.", host)
	}
	if said.ErrorCode == "invalid_grant" {
		return newRefusal("sso-grant", fault.Upstream, "The provider %s rejected its authorization code. Start again.", host)
	}
	return newRefusal("sso-exchange", fault.Upstream, "The provider %s refused the token request.", host)
}

// newProviderError explains an error code of the callback (OpenID Connect Core section 3.1.2.6). Other
// parameters are not repeated: anyone can write such a URL.
func newProviderError(issuer, code string) error {
	host := hostFor(issuer)
	switch code {
	case "access_denied":
		return newRefusal("sso-denied", fault.Denied, "The sign-in was refused or cancelled at %s.", host)
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		return newRefusal("sso-interaction", fault.Denied, "The provider %s couldn't sign you in silently. Start again.", host)
	case "invalid_scope":
		return newRefusal("sso-scope", fault.Upstream, "The provider %s doesn't grant this client its scopes (openid, email, profile). An owner can fix that at the provider.", host)
	case "unauthorized_client", "invalid_request", "unsupported_response_type":
		return newRefusal("sso-client", fault.Upstream, "The provider %s refuses this client's requests. An owner can fix that in the settings.", host)
	case "temporarily_unavailable", "server_error":
		return newRefusal("sso-unreachable", fault.Upstream, "The provider %s is having problems. Try again in a minute.", host)
	}
	return newRefusal("sso-refused", fault.Denied, "The provider %s refused the sign-in.", host)
}
