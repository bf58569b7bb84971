package connectors

// Effect is what a server says that a tool does to the world, in one word (MCP 2025-11-25, ToolAnnotations).
type Effect string

// The effects. A server that says neither of readOnlyHint nor destructiveHint has said nothing: by the protocol's default its tool may
// destroy.
const (
	EffectReadOnly    Effect = "read_only"
	EffectWrites      Effect = "writes" // and destroys nothing, or does not say that it does
	EffectDestructive Effect = "destructive"
	EffectUnsaid      Effect = "unsaid"
)

// Effects lists them, the safest first.
var Effects = []Effect{EffectReadOnly, EffectWrites, EffectDestructive, EffectUnsaid}

// Effect is the one word for the hints. They are the server's word, and no more.
func (h Hints) Effect() Effect {
	switch {
	case h.ReadOnly != nil && *h.ReadOnly:
		return EffectReadOnly
	case h.Destructive != nil && *h.Destructive:
		return EffectDestructive
	case h.Destructive != nil || h.ReadOnly != nil:
		return EffectWrites
	default:
		return EffectUnsaid
	}
}

// Words tell a person who decides about a call what the server says that the tool does, and how far that reaches.
func (h Hints) Words() string {
	does := map[Effect]string{
		EffectReadOnly:    "By its server's word it only reads.",
		EffectWrites:      "By its server's word it changes things, and deletes or overwrites none.",
		EffectDestructive: "By its server's word it may delete or overwrite things.",
		EffectUnsaid:      "Its server does not say what it does: it may delete or overwrite things.",
	}[h.Effect()]
	if h.ReadOnly != nil && !*h.ReadOnly && h.Destructive == nil {
		does = "By its server's word it changes things, and may delete or overwrite some."
	}
	switch {
	case h.OpenWorld == nil:
		return does
	case *h.OpenWorld:
		return does + " It reaches beyond that server: to the web, other systems or other people."
	default:
		return does + " It reaches nothing beyond that server."
	}
}
