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

// refuse is a sign-in that fails, by a word for programs and the audit log, and a sentence for whoever signs in. It has no cause: the
// library's errors repeat what a provider sent, which may be about a person.
func refuse(typ string, kind fault.Kind, sentence string, args ...any) error {
	return fault.Errorf(kind, sentence, args...).WithType(typ)
}

// notBegun answers whoever comes back with something that this browser has not begun, or has ended already.
func notBegun() error {
	return refuse("sso-state", fault.Denied, "This sign-in was not begun in this browser, or was ended already. Begin it again.")
}

func foreignAddress() error {
	return refuse("sso-domain", fault.Denied, "Your e-mail address is of a domain that is not this organisation's.")
}

func noGroup() error {
	return refuse("sso-no-group", fault.Denied, "None of your groups at the provider has access here. Ask an owner of your organisation.")
}

// otherIssuer is a provider that has another name than its address.
func otherIssuer(issuer string) error {
	return refuse("sso-discovery", fault.Upstream, "The provider at %s names itself by another URL. Write the issuer exactly as the provider does, to the last slash.", hostOf(issuer))
}

// unreachable says why a provider did not answer as one.
func unreachable(issuer string, err error) error {
	const typ = "sso-unreachable"
	host := hostOf(issuer)
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return refuse(typ, fault.Upstream, "%s", blocked.Why)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(typ, fault.Upstream, "The provider %s answers more than it may.", host)
	}
	if slow, ok := errors.AsType[net.Error](err); errors.Is(err, context.DeadlineExceeded) || ok && slow.Timeout() {
		return refuse(typ, fault.Upstream, "The provider %s did not answer in time. Try again in a minute.", host)
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return refuse(typ, fault.Upstream, "The provider %s cannot be reached. Try again in a minute.", host)
	}
	return refuse(typ, fault.Upstream, "The provider %s does not answer as an OpenID provider does.", host)
}

// notExchanged says why a provider took the code and gave nothing for it (RFC 6749 §5.2).
func notExchanged(issuer string, err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return unreachable(issuer, err)
	}
	host := hostOf(issuer)
	if said.ErrorCode == "invalid_client" || said.Response != nil && said.Response.StatusCode == http.StatusUnauthorized {
		return refuse("sso-client", fault.Upstream, "The provider %s does not know this client, or its secret is wrong. An owner can mend it in the settings.", host)
	}
	if said.ErrorCode == "invalid_grant" {
		return refuse("sso-grant", fault.Upstream, "The provider %s does not take its own code any more. Begin again.", host)
	}
	return refuse("sso-exchange", fault.Upstream, "The provider %s refused to say who signed in.", host)
}

// providerSaid says what an error of the provider's answer means (OpenID Connect Core §3.1.2.6). What else it says is not repeated: it
// comes by an address that anybody may have written.
func providerSaid(issuer, code string) error {
	host := hostOf(issuer)
	switch code {
	case "access_denied":
		return refuse("sso-denied", fault.Denied, "The sign-in was refused or given up at %s.", host)
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		return refuse("sso-interaction", fault.Denied, "The provider %s could not sign you in without asking. Begin again.", host)
	case "invalid_scope":
		return refuse("sso-scope", fault.Upstream, "The provider %s does not give this client what it asks for (openid, email, profile). An owner can mend it at the provider.", host)
	case "unauthorized_client", "invalid_request", "unsupported_response_type":
		return refuse("sso-client", fault.Upstream, "The provider %s does not take this client's requests. An owner can mend it in the settings.", host)
	case "temporarily_unavailable", "server_error":
		return refuse("sso-unreachable", fault.Upstream, "The provider %s is out of order. Try again in a minute.", host)
	}
	return refuse("sso-refused", fault.Denied, "The provider %s refused the sign-in.", host)
}
