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
	MaxAlias     = 128  // characters, as MCP has it
	MaxAgentText = 4000 // characters
	MaxTags      = 20
	MaxTag       = 32 // characters
)

// Curation is what an admin says of a tool towards agents, in place of its server. What was accepted, and what the server is asked for,
// stay what they are.
type Curation struct {
	Enabled   bool
	Alias     string   // the name that agents see; empty: the server's
	AgentText string   // the description that they read; empty: the server's
	Tags      []string // for people, sorted
	Quota     Quota    // of all agents together
}

// Same tells whether two curations say the same.
func (c Curation) Same(other Curation) bool {
	return c.Enabled == other.Enabled && c.Alias == other.Alias && c.AgentText == other.AgentText && c.Quota == other.Quota && slices.Equal(c.Tags, other.Tags)
}

// ToolStanding is what becomes of a tool, for people who look for some.
type ToolStanding string

// The standings.
const (
	StandingEnabled  ToolStanding = "enabled"
	StandingDisabled ToolStanding = "disabled"
	StandingChanged  ToolStanding = "changed" // its server changed it, and the change waits
	StandingHeld     ToolStanding = "held"    // calls are refused: it is new, changed or rejected
	StandingCurated  ToolStanding = "curated" // an admin gave it another name or description
)

// ToolStandings are all of them.
var ToolStandings = []ToolStanding{StandingEnabled, StandingDisabled, StandingChanged, StandingHeld, StandingCurated}

// Hint is a member of a tool's annotations by which its server says something of its effects.
type Hint string

// The hints (MCP 2025-11-25, ToolAnnotations).
const (
	HintReadOnly    Hint = "readOnlyHint"
	HintDestructive Hint = "destructiveHint"
	HintIdempotent  Hint = "idempotentHint"
	HintOpenWorld   Hint = "openWorldHint"
)

// ToolHints are all of them.
var ToolHints = []Hint{HintReadOnly, HintDestructive, HintIdempotent, HintOpenWorld}

// ToolPatch changes a tool's curation. What is nil stays.
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

// Apply returns the curation with the patch, or an Invalid fault that names the fields.
func (p ToolPatch) Apply(to Curation) (Curation, error) {
	c := &check{}
	if p.Enabled != nil {
		to.Enabled = *p.Enabled
	}
	if p.Alias != nil {
		to.Alias = c.alias(strings.TrimSpace(*p.Alias))
	}
	if p.AgentText != nil {
		to.AgentText = c.agentText(strings.TrimSpace(*p.AgentText))
	}
	to.Quota = c.toolQuota(p, to.Quota)
	tags := to.Tags
	if p.Tags != nil {
		tags = *p.Tags
	}
	gone := eachTag(p.RemoveTags)
	tags = slices.DeleteFunc(slices.Concat(eachTag(tags), eachTag(p.AddTags)), func(t string) bool { return slices.Contains(gone, t) })
	to.Tags = c.tags(tags)
	if to.Alias == p.Tool {
		to.Alias = "" // that is no other name
	}
	if len(c.fields) > 0 {
		return Curation{}, fault.InvalidFields(c.fields...)
	}
	return to, nil
}

func (c *check) toolQuota(p ToolPatch, q Quota) Quota {
	if p.CallsPerMinute != nil {
		q.PerMinute = *p.CallsPerMinute
	}
	if p.CallsPerDay != nil {
		q.PerDay = *p.CallsPerDay
	}
	c.quota("", q)
	return q
}

// aliasSpelling is what MCP lets a tool's name be made of (2025-11-25, Tools, Tool Names).
var aliasSpelling = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func (c *check) alias(alias string) string {
	if alias != "" && !aliasSpelling.MatchString(alias) {
		c.refuse("alias", "A tool's name has 1 to %d letters (without accents), digits, underscores, hyphens and dots.", MaxAlias)
	}
	return alias
}

func (c *check) agentText(text string) string {
	switch {
	case utf8.RuneCountInString(text) > MaxAgentText:
		c.refuse("agent_description", "A description for agents has at most %d characters.", MaxAgentText)
	case !plainText(text, "\n\r\t"):
		c.refuse("agent_description", "A description holds no control characters.")
	case strings.ContainsFunc(text, Misleads):
		c.refuse("agent_description", "A description holds no characters that nobody sees, or that turn text around.")
	}
	return text
}

var tagSpelling = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{Nd}]([\p{Ll}\p{Lo}\p{M}\p{Nd}_-]*[\p{Ll}\p{Lo}\p{M}\p{Nd}])?$`)

func (c *check) tags(tags []string) []string {
	for _, t := range tags {
		if utf8.RuneCountInString(t) > MaxTag || !tagSpelling.MatchString(t) {
			c.refuse("tags", "A tag has 1 to %d letters, digits, hyphens and underscores, and begins and ends with a letter or digit.", MaxTag)
			return nil
		}
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); len(tags) > MaxTags {
		c.refuse("tags", "A tool has at most %d tags.", MaxTags)
	}
	return tags
}

// eachTag writes tags as they are stored.
func eachTag(tags []string) []string {
	var list []string
	for _, t := range tags {
		if t = strings.ToLower(strings.TrimSpace(t)); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// Named is what a tool is called: by its server, and by an admin.
type Named struct {
	Name    string
	Alias   string // empty: none
	Removed bool   // the server does not list it any more
}

// CheckNames tells whether agents can tell the tools of a connector apart, of which some were renamed just now. The error is a Conflict
// that says whose name is taken.
func CheckNames(tools []Named, renamed []string) error {
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
			return fault.Errorf(fault.Conflict, "The name %q is taken: agents know another tool of this connector by it. Choose another one for %q or for %q.",
				t.Alias, t.Name, other)
		}
		owner[t.Alias] = t.Name
	}
	return nil
}

// AgentNames are the names of a connector's tools towards agents, by the server's names, before the connector's prefix. An alias always
// holds: a tool that comes later under a name that an admin gave to another one is shown with a suffix, so that no server can take a name over.
func AgentNames(tools []Named) map[string]string {
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

// AgentName is the tool's name towards agents. shadowed: another tool of the connector has this one's name for its alias.
func (n Named) AgentName(shadowed bool) string {
	if n.Alias == "" && shadowed {
		return strings.ToValidUTF8(n.Name[:min(len(n.Name), MaxAlias-suffixLength)], "") + hashSuffix(n.Name)
	}
	return cmp.Or(n.Alias, n.Name)
}
