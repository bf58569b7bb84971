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
