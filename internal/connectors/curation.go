package connectors

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Bounds of a curation.
const (
	MaxAlias     = 128  // characters (MCP)
	MaxAgentText = 4000 // characters
	MaxTags      = 20
	MaxTag       = 32 // characters
)

// Curation is what an admin sets for a tool towards agents. Review and requests to the server are unaffected.
type Curation struct {
	Enabled   bool
	Alias     string   // the name for agents; empty: the server's
	AgentText string   // the description for agents; empty: the server's
	Tags      []string // for people, sorted
	Quota     Quota    // of all agents together
}

// Same reports whether two curations are equal.
func (c Curation) Same(other Curation) bool {
	return c.Enabled == other.Enabled && c.Alias == other.Alias && c.AgentText == other.AgentText && c.Quota == other.Quota && slices.Equal(c.Tags, other.Tags)
}

// ToolStateFilter is a filter of a tool list.
type ToolStateFilter string

// The standings.
const (
	StandingEnabled  ToolStateFilter = "enabled"
	StandingDisabled ToolStateFilter = "disabled"
	StandingChanged  ToolStateFilter = "changed" // a change waits for review
	StandingHeld     ToolStateFilter = "held"    // calls are refused: new, changed or rejected
	StandingKept     ToolStateFilter = "kept"    // an older definition stays in service
	StandingCurated  ToolStateFilter = "curated" // renamed or described by an admin
)

// ToolStandings are all standings.
var ToolStandings = []ToolStateFilter{StandingEnabled, StandingDisabled, StandingChanged, StandingHeld, StandingKept, StandingCurated}

// Hint is a member of a tool's annotations about its effects.
type Hint string

// The hints (MCP 2025-11-25, ToolAnnotations).
const (
	HintReadOnly    Hint = "readOnlyHint"
	HintDestructive Hint = "destructiveHint"
	HintIdempotent  Hint = "idempotentHint"
	HintOpenWorld   Hint = "openWorldHint"
)

// ToolHints are all hints.
var ToolHints = []Hint{HintReadOnly, HintDestructive, HintIdempotent, HintOpenWorld}

// ToolPatch changes a tool's curation. nil fields stay.
type ToolPatch struct {
	Tool       string
	Enabled    *bool
	Alias      *string
	AgentText  *string
	Tags       *[]string
	AddTags    []string
	RemoveTags []string

	CallsPerMinute *int
	CallsPerDay    *int
}

// Apply returns the patched curation, or an Invalid fault with the fields.
func (p ToolPatch) Apply(current Curation) (Curation, error) {
	c := &validation{}
	if p.Enabled != nil {
		current.Enabled = *p.Enabled
	}
	if p.Alias != nil {
		current.Alias = c.alias(strings.TrimSpace(*p.Alias))
	}
	if p.AgentText != nil {
		current.AgentText = c.checkAgentText(strings.TrimSpace(*p.AgentText))
	}
	current.Quota = c.checkToolQuota(p, current.Quota)
	tags := current.Tags
	if p.Tags != nil {
		tags = *p.Tags
	}
	gone := normalizeTags(p.RemoveTags)
	tags = slices.DeleteFunc(slices.Concat(normalizeTags(tags), normalizeTags(p.AddTags)), func(t string) bool { return slices.Contains(gone, t) })
	current.Tags = c.tags(tags)
	if current.Alias == p.Tool {
		current.Alias = "" // equal to the server's name
	}
	if len(c.fields) > 0 {
		return Curation{}, fault.InvalidFields(c.fields...)
	}
	return current, nil
}

func (c *validation) checkToolQuota(p ToolPatch, q Quota) Quota {
	if p.CallsPerMinute != nil {
		q.PerMinute = *p.CallsPerMinute
	}
	if p.CallsPerDay != nil {
		q.PerDay = *p.CallsPerDay
	}
	c.checkQuota("", q)
	return q
}

// aliasPattern is MCP's form of tool names (2025-11-25, Tools, Tool Names).
var aliasPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func (c *validation) alias(alias string) string {
	if alias != "" && !aliasPattern.MatchString(alias) {
		c.addField("alias", "Use 1–%d unaccented letters, digits, underscores, hyphens or dots.", MaxAlias)
	}
	return alias
}

func (c *validation) checkAgentText(text string) string {
	switch {
	case utf8.RuneCountInString(text) > MaxAgentText:
		c.addField("agent_description", "At most %d characters.", MaxAgentText)
	case !isPlainText(text, "\n\r\t"):
		c.addField("agent_description", "No control characters allowed.")
	case strings.ContainsFunc(text, Misleads):
		c.addField("agent_description", "No invisible or bidirectional characters allowed.")
	}
	return text
}

var tagPattern = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{Nd}]([\p{Ll}\p{Lo}\p{M}\p{Nd}_-]*[\p{Ll}\p{Lo}\p{M}\p{Nd}])?$`)

func (c *validation) tags(tags []string) []string {
	for _, t := range tags {
		if utf8.RuneCountInString(t) > MaxTag || !tagPattern.MatchString(t) {
			c.addField("tags", "Use 1–%d letters, digits, hyphens or underscores; only letters or digits at the ends.", MaxTag)
			return nil
		}
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); len(tags) > MaxTags {
		c.addField("tags", "At most %d tags.", MaxTags)
	}
	return tags
}

// CheckTags returns tags in their normal form, or why they are invalid.
func CheckTags(tags []string) ([]string, error) {
	c := &validation{}
	tags = c.tags(normalizeTags(tags))
	return tags, fault.InvalidFields(c.fields...)
}

func normalizeTags(tags []string) []string {
	var list []string
	for _, t := range tags {
		if t = strings.ToLower(strings.TrimSpace(t)); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// ToolNames are a tool's names: the server's and an admin's.
type ToolNames struct {
	Name    string
	Alias   string // empty: none
	Removed bool   // not listed by the server any more
}

// CheckNames returns a Conflict fault if a name of renamed is also another tool's.
func CheckNames(tools []ToolNames, renamed []string) error {
	owner := make(map[string]string, len(tools))
	for _, t := range tools {
		if t.Alias == "" && !t.Removed {
			owner[t.Name] = t.Name
		}
	}
	for _, t := range tools {
		if t.Alias == "" {
			continue
		}
		other, taken := owner[t.Alias]
		if taken && (slices.Contains(renamed, t.Name) || slices.Contains(renamed, other)) {
			return fault.Errorf(fault.Conflict, "The name %q is taken by another tool here. Rename %q or %q.",
				t.Alias, t.Name, other)
		}
		owner[t.Alias] = t.Name
	}
	return nil
}

// AgentNames maps the server's names of a connector's tools to those for agents, without the connector's
// prefix. An alias wins: a later tool with that name gets a suffix, so that a server cannot take a name over.
func AgentNames(tools []ToolNames) map[string]string {
	names, given := make(map[string]string, len(tools)), map[string]bool{}
	for _, t := range tools {
		if t.Alias != "" && !t.Removed {
			given[t.Alias] = true
		}
	}
	for _, t := range tools {
		names[t.Name] = t.AgentName(given[t.Name])
	}
	return names
}

// AgentName returns the tool's name for agents. shadowed: another tool's alias is its name.
func (n ToolNames) AgentName(shadowed bool) string {
	if n.Alias == "" && shadowed {
		return strings.ToValidUTF8(n.Name[:min(len(n.Name), MaxAlias-suffixLength)], "") + hashSuffix(n.Name)
	}
	return cmp.Or(n.Alias, n.Name)
}
