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

// Scopes returns the scopes to request: the admin's, else the challenge's, else the resource's, else none.
// offline_access is added if the server lists it, to get a refresh token.
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

// NarrowScopes returns the scopes to retry with after invalid_scope: without offline_access, then none, which
// lets the server choose. ok is false if none are left.
func NarrowScopes(scopes []string) (fewer []string, ok bool) {
	if i := slices.Index(scopes, offlineAccess); i >= 0 && len(scopes) > 1 {
		return slices.Delete(slices.Clone(scopes), i, i+1), true
	}
	return nil, len(scopes) > 0
}

// UnionScopes returns the scopes of both, unique and in order, for a step-up after insufficient_scope.
func UnionScopes(held, more []string) []string {
	return scopeTokens(append(slices.Clone(held), more...))
}

// ParseScopes parses a scope parameter and drops malformed tokens.
func ParseScopes(text string) []string { return scopeTokens(strings.Fields(text)) }

// scopeTokens drops malformed (RFC 6749 section 3.3), repeated and excess tokens.
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
