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
