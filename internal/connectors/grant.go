package connectors

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// PromptAccess is which prompts of its connector a grant includes.
type PromptAccess string

// The choices of prompts.
const (
	PromptsNone   PromptAccess = "none"
	PromptsListed PromptAccess = "listed" // those that the server lists, later ones too
)

// ResourceAccess is which resources of its connector a grant includes.
type ResourceAccess string

// The choices of resources.
const (
	ResourcesNone            ResourceAccess = "none"
	ResourcesListed          ResourceAccess = "listed" // those that the server lists, later ones too
	ResourcesListedTemplates ResourceAccess = "listed_and_templates"
)

// Grant is an agent's permission for a connector's tools, prompts and resources.
type Grant struct {
	AgentID     AgentID
	ConnectorID ConnectorID
	AllTools    bool     // future ones too
	Tools       []string // unless AllTools: the upstream's names
	// Approval overrides the agent's mode.
	Approval *ApprovalMode
	// TrustedTools need no approval in mode trusted_only.
	TrustedTools []string
	// PinnedTools stay in a lean list. nil: those of the existing grant stay pinned.
	PinnedTools []string
	Prompts     PromptAccess   // empty: the default of Normalized
	Resources   ResourceAccess // likewise
	// Accounts has the names of the owner's accounts that the agent uses, at most [MaxBoundAccounts]; empty: the owner's only one.
	// nil: those of the existing grant.
	Accounts []string
	// Ends are the ends of the grant. nil: it has none; in a change, Until of the existing grant stays, and its Tools go.
	Ends *GrantEnds
	// Shaping shortens answers, by the upstream's name of the tool. A new grant has none, and a change of the grant keeps it.
	Shaping   map[string]Shaping
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MaxBoundAccounts bounds the accounts of a grant: the agent gets the tools of the connector once for each.
const MaxBoundAccounts = 10

// Account returns the name of the account that the grant binds; empty: the owner's only account. Of several it returns all names,
// which no account has, so that none is used unless one is chosen by [Grant.EachAccount].
func (g Grant) Account() string { return strings.Join(g.Accounts, ",") }

// EachAccount returns the grant for each account that it binds; of a grant that binds none or one, itself.
func (g Grant) EachAccount() []Grant {
	if len(g.Accounts) < 2 {
		return []Grant{g}
	}
	all := make([]Grant, len(g.Accounts))
	for i, name := range g.Accounts {
		all[i] = g
		all[i].Accounts = []string{name}
	}
	return all
}

// Includes reports whether a tool is granted, by the upstream's name.
func (g Grant) Includes(tool string) bool { return g.AllTools || slices.Contains(g.Tools, tool) }

// IncludesItems reports whether the grant includes the listed items of a kind.
func (g Grant) IncludesItems(kind ItemKind) bool {
	switch kind {
	case ItemPrompt:
		return g.Prompts == PromptsListed
	case ItemResource:
		return g.Resources == ResourcesListed || g.Resources == ResourcesListedTemplates
	case ItemTemplate:
		return g.Resources == ResourcesListedTemplates
	}
	return false
}

const (
	maxGrantedTools = 5000 // of one grant
	maxToolName     = 128  // characters
)

// Normalized removes duplicates, pinned tools that are not granted, and the names if all tools are granted. Without a
// choice of prompts or resources, a grant of all tools includes all of them, and another grant none.
func (g Grant) Normalized() Grant {
	prompts, resources := PromptsNone, ResourcesNone
	if g.AllTools {
		g.Tools = nil
		prompts, resources = PromptsListed, ResourcesListedTemplates
	}
	g.Prompts, g.Resources = cmp.Or(g.Prompts, prompts), cmp.Or(g.Resources, resources)
	g.Tools, g.TrustedTools, g.Accounts = sortedSet(g.Tools), sortedSet(g.TrustedTools), sortedSet(g.Accounts)
	g = g.withNormalizedEnds()
	g.PinnedTools = slices.DeleteFunc(sortedSet(g.PinnedTools), func(tool string) bool { return !g.namesTool(tool) })
	return g
}

func sortedSet(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Validate returns the invalid fields of a normalized grant.
func (g Grant) Validate() []fault.Field {
	var c validation
	c.checkToolNames("tools", g.Tools)
	c.checkToolNames("trusted_tools", g.TrustedTools)
	c.checkToolNames("pinned_tools", g.PinnedTools)
	if len(g.PinnedTools) > MaxPinnedTools {
		c.addField("pinned_tools", "At most %d pinned tools per agent.", MaxPinnedTools)
	}
	if g.Approval != nil {
		checkOneOf(&c, "approval", *g.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly, ApprovalAskAll)
	}
	c.checkEnds(g.Ends)
	if slices.ContainsFunc(g.Accounts, func(name string) bool { return !ValidSlug(name) }) {
		c.addField("account", "Use 1–%d lowercase letters, digits or hyphens; no hyphen at either end.", MaxSlug)
	}
	if len(g.Accounts) > MaxBoundAccounts {
		c.addField("account", "At most %d accounts.", MaxBoundAccounts)
	}
	checkOneOf(&c, "prompts", g.Prompts, PromptsNone, PromptsListed)
	checkOneOf(&c, "resources", g.Resources, ResourcesNone, ResourcesListed, ResourcesListedTemplates)
	return c.fields
}

func (c *validation) checkToolNames(location string, names []string) {
	if len(names) > maxGrantedTools {
		c.addField(location, "At most %d tools.", maxGrantedTools)
	}
	if slices.ContainsFunc(names, func(n string) bool {
		return n == "" || utf8.RuneCountInString(n) > maxToolName || !utf8.ValidString(n) || strings.ContainsRune(n, 0)
	}) {
		c.addField(location, "Must be 1–%d characters.", maxToolName)
	}
}

// ApprovalMode returns the grant's approval mode; agent is that of its agent.
func (g Grant) ApprovalMode(agent ApprovalMode) ApprovalMode {
	if g.Approval != nil {
		return *g.Approval
	}
	return agent
}

// LeavesItemsUnasked reports whether prompts and resources are used without asking, though each call of a tool needs
// approval.
func (g Grant) LeavesItemsUnasked(agent ApprovalMode) bool {
	return g.ApprovalMode(agent) == ApprovalAlwaysAsk
}

// AsksForItem reports whether the use of a prompt or a resource needs approval. Both only read.
func (g Grant) AsksForItem(agent ApprovalMode, kind CallKind) bool {
	return g.ApprovalMode(agent) == ApprovalAskAll && (kind == CallPrompt || kind == CallResource)
}

// Asks reports whether a call of a tool needs approval.
func (g Grant) Asks(agent ApprovalMode, tool string) bool {
	switch g.ApprovalMode(agent) {
	case ApprovalAuto:
		return false
	case ApprovalTrustedOnly:
		return !slices.Contains(g.TrustedTools, tool)
	default:
		return true
	}
}

// AgentToken is an agent's gateway token without its secret.
type AgentToken struct {
	ID         AgentTokenID
	AgentID    AgentID
	Name       string
	Prefix     string // for display
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	LastUsedAt *time.Time
}

// Validate returns the invalid fields. The name is optional.
func (t AgentToken) Validate() []fault.Field {
	var c validation
	if t.Name != "" {
		c.name(t.Name)
	}
	return c.fields
}
