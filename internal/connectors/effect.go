package connectors

// Effect is a tool's effect as stated by its server (MCP 2025-11-25, ToolAnnotations).
type Effect string

// The effects. Without readOnlyHint and destructiveHint nothing is stated; by the protocol's default such a
// tool may destroy.
const (
	EffectReadOnly    Effect = "read_only"
	EffectWrites      Effect = "writes" // not destructive, or not stated
	EffectDestructive Effect = "destructive"
	EffectUnsaid      Effect = "unsaid"
)

// Effects lists them, safest first.
var Effects = []Effect{EffectReadOnly, EffectWrites, EffectDestructive, EffectUnsaid}

// Effect summarizes the hints.
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

// Words describes for an approver what the tool does, according to the server.
func (h Hints) Words() string {
	does := map[Effect]string{
		EffectReadOnly:    "The server says this tool only reads.",
		EffectWrites:      "The server says this tool writes data but doesn't delete or overwrite it.",
		EffectDestructive: "The server says this tool may delete or overwrite data.",
		EffectUnsaid:      "Effect not stated: may delete or overwrite data.",
	}[h.Effect()]
	if h.ReadOnly != nil && !*h.ReadOnly && h.Destructive == nil {
		does = "The server says this tool writes data and may delete or overwrite it."
	}
	switch {
	case h.OpenWorld == nil:
		return does
	case *h.OpenWorld:
		return does + " It reaches the web, other systems or people."
	default:
		return does + " It stays within the server."
	}
}
