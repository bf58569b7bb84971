package connectors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxExposedName is the default bound of an exposed name, the strictest provider's.
const MaxExposedName = 64

// An exposed name is mcp_<slug>__<tool>. A tool's name that is too long, has characters that providers refuse,
// or itself ends like a truncated one, is spelled with _, truncated, and ends with _ and 8 hexadecimal digits
// of its hash. A slug has no underscore, so names of two connectors never collide. With several accounts of a connector, <slug> is
// its [ViewSlug] with an underscore in place of the dot.
const (
	suffixDigits = 8
	suffixLength = 1 + suffixDigits
)

// ExposedNames names the tools of one connector for agents. Names are unique, and independent of other tools
// except for the second of two colliding hashes.
func ExposedNames(slug string, tools []string) map[string]string {
	return ExposedNamesWithin(MaxExposedName, slug, tools)
}

// ExposedNamesWithin is [ExposedNames] with up to limit characters, at least [MaxExposedName].
func ExposedNamesWithin(limit int, slug string, tools []string) map[string]string {
	names, taken := make(map[string]string, len(tools)), make(map[string]bool, len(tools))
	for _, tool := range slices.Sorted(slices.Values(tools)) {
		if _, there := names[tool]; there {
			continue
		}
		name := ExposedNameWithin(limit, slug, tool)
		for n := 1; taken[name]; n++ {
			name = withSuffix(limit, slug, tool, fmt.Sprintf("%s\x00%d", tool, n))
		}
		names[tool], taken[name] = name, true
	}
	return names
}

// ExposedName names one tool without regard to the others: it differs from [ExposedNames] only if hashes
// collide.
func ExposedName(slug, tool string) string { return ExposedNameWithin(MaxExposedName, slug, tool) }

// ExposedNameWithin is [ExposedName] with up to limit characters.
func ExposedNameWithin(limit int, slug, tool string) string {
	plain := ExposedPrefix(slug) + tool
	if tool != "" && tool == spellName(tool) && len(plain) <= limit && !hasSuffixForm(tool) {
		return plain
	}
	return withSuffix(limit, slug, tool, tool)
}

// ExposedSlug returns the connector's slug, without an account, in an exposed name, whether or not there is such a tool.
func ExposedSlug(exposed string) (slug string, ok bool) {
	rest, isExposed := strings.CutPrefix(exposed, "mcp_")
	rest, _, isWhole := strings.Cut(rest, "__")
	slug, isSlug := CutViewSlug(strings.Replace(rest, "_", ".", 1))
	return slug, isExposed && isWhole && isSlug
}

// ExposedPrefix begins the exposed names of a connector's tools; slug is that in the view.
func ExposedPrefix(slug string) string { return "mcp_" + strings.Replace(slug, ".", "_", 1) + "__" }

func withSuffix(limit int, slug, tool, hashed string) string {
	prefix, body := ExposedPrefix(slug), spellName(tool)
	if room := limit - len(prefix) - suffixLength; len(body) > room {
		body = body[:room]
	}
	return prefix + body + hashSuffix(hashed)
}

func hashSuffix(hashed string) string {
	sum := sha256.Sum256([]byte(hashed))
	return "_" + hex.EncodeToString(sum[:])[:suffixDigits]
}

// spellName replaces each run of characters that a provider may refuse by one underscore.
func spellName(tool string) string {
	var b strings.Builder
	gap := false
	for _, r := range tool {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			b.WriteRune(r)
			gap = false
		} else if !gap {
			b.WriteByte('_')
			gap = true
		}
	}
	return b.String()
}

// hasSuffixForm reports whether a plain name looks like a truncated one. Such a name gets a suffix too, so that
// no server can choose the name of another of its tools.
func hasSuffixForm(tool string) bool {
	if len(tool) < suffixLength || tool[len(tool)-suffixLength] != '_' {
		return false
	}
	return strings.Trim(tool[len(tool)-suffixDigits:], "0123456789abcdef") == ""
}
