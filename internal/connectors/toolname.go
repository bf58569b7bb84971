package connectors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxExposedName is the length of the longest exposed name, unless the agent takes longer ones: the strictest provider's limit.
const MaxExposedName = 64

// An exposed name is mcp_<slug>__<tool>. A tool's name that cannot stand there as it is (characters that providers refuse,
// too long, or itself ending like one that was cut) is spelled with _ and cut, and ends with _ and 8 hexadecimal digits of
// its hash. A slug has no underscore, so that names of two connectors never meet.
const (
	suffixDigits = 8
	suffixLength = 1 + suffixDigits
)

// ExposedNames names the tools of one connector towards agents. Two tools never share a name, and a tool keeps its name
// whatever other tools there are, but for the second of two whose hashes collide.
func ExposedNames(slug string, tools []string) map[string]string {
	return ExposedNamesWithin(MaxExposedName, slug, tools)
}

// ExposedNamesWithin is [ExposedNames] for an agent that takes names of up to limit characters: fewer are cut. limit is
// [MaxExposedName] at least.
func ExposedNamesWithin(limit int, slug string, tools []string) map[string]string {
	names, taken := make(map[string]string, len(tools)), make(map[string]bool, len(tools))
	for _, tool := range slices.Sorted(slices.Values(tools)) {
		if _, there := names[tool]; there {
			continue
		}
		name := ExposedNameWithin(limit, slug, tool)
		for n := 1; taken[name]; n++ {
			name = suffixed(limit, slug, tool, fmt.Sprintf("%s\x00%d", tool, n))
		}
		names[tool], taken[name] = name, true
	}
	return names
}

// ExposedName names one tool of a connector towards agents, without regard to the others: [ExposedNames] differs from it only
// where two hashes collide.
func ExposedName(slug, tool string) string { return ExposedNameWithin(MaxExposedName, slug, tool) }

// ExposedNameWithin is [ExposedName] with up to limit characters.
func ExposedNameWithin(limit int, slug, tool string) string {
	plain := exposedPrefix(slug) + tool
	if tool != "" && tool == spelled(tool) && len(plain) <= limit && !endsLikeSuffix(tool) {
		return plain
	}
	return suffixed(limit, slug, tool, tool)
}

func exposedPrefix(slug string) string { return "mcp_" + slug + "__" }

func suffixed(limit int, slug, tool, hashed string) string {
	prefix, body := exposedPrefix(slug), spelled(tool)
	if room := limit - len(prefix) - suffixLength; len(body) > room {
		body = body[:room]
	}
	return prefix + body + hashSuffix(hashed)
}

func hashSuffix(hashed string) string {
	sum := sha256.Sum256([]byte(hashed))
	return "_" + hex.EncodeToString(sum[:])[:suffixDigits]
}

// spelled writes a name with the characters that every provider takes. Any run of others becomes one underscore.
func spelled(tool string) string {
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

// endsLikeSuffix tells whether a plain name could be mistaken for one that was cut: such a name gets a suffix, too, so that
// no server can choose a name that another of its tools was given.
func endsLikeSuffix(tool string) bool {
	if len(tool) < suffixLength || tool[len(tool)-suffixLength] != '_' {
		return false
	}
	return strings.Trim(tool[len(tool)-suffixDigits:], "0123456789abcdef") == ""
}
