package oauth

import (
	"slices"
	"strings"
)

const (
	offlineAccess  = "offline_access"
	maxScopes      = 100
	maxScopeLength = 200
)

// Scopes are what to ask for: the admin's, else the challenge's, else what the resource lists, else none.
// offline_access is added to them where the authorization server lists it, for the sake of a refresh token.
func (d *Discovery) Scopes(configured []string, challenge string) []string {
	scopes := scopeTokens(configured)
	if len(scopes) == 0 {
		scopes = ParseScopes(challenge)
	}
	if len(scopes) == 0 {
		scopes = slices.Clone(d.ResourceScopes)
	}
	if len(scopes) > 0 && slices.Contains(d.Server.ScopesSupported, offlineAccess) {
		scopes = UnionScopes(scopes, []string{offlineAccess})
	}
	return scopes
}

// NarrowScopes are what to ask for after invalid_scope: the same without offline_access, then none, which lets the
// server choose. ok is false where nothing less is left.
func NarrowScopes(scopes []string) (fewer []string, ok bool) {
	if i := slices.Index(scopes, offlineAccess); i >= 0 && len(scopes) > 1 {
		return slices.Delete(slices.Clone(scopes), i, i+1), true
	}
	return nil, len(scopes) > 0
}

// UnionScopes are those of both, each once, in their order: for a step-up after insufficient_scope.
func UnionScopes(held, more []string) []string {
	return scopeTokens(append(slices.Clone(held), more...))
}

// ParseScopes reads a scope parameter. Words that are no scope tokens are left out.
func ParseScopes(text string) []string { return scopeTokens(strings.Fields(text)) }

// scopeTokens leaves out what is no scope token (RFC 6749 §3.3), what comes twice, and what is too much.
func scopeTokens(words []string) []string {
	var all []string
	for _, word := range words {
		if isScopeToken(word) && !slices.Contains(all, word) && len(all) < maxScopes {
			all = append(all, word)
		}
	}
	return all
}

func isScopeToken(s string) bool {
	return s != "" && len(s) <= maxScopeLength && isVisible(s) && !strings.ContainsAny(s, `"\`)
}
