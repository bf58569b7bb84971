package connectors

import "patchbay/internal/toolchange"

// Policy hold_risky accepts changes without review if package toolchange finds no high risk:
//
//	held    a new tool without readOnlyHint; changed text for models; new or wider parameters; a riskier annotation; hidden
//	        characters, new addresses, instructions to a model, a name or text about another connector's tool; anything unknown
//	passes  title, icons, _meta and white space; fewer or narrower parameters; another output; a safer annotation

// allowsChange reports whether the policy accepts a change without review.
func (p ToolChangePolicy) allowsChange(c toolchange.Change) bool {
	switch p {
	case ToolChangesAuto:
		return true
	case ToolChangesHoldAll:
		return false
	default:
		return c.Risk != toolchange.High
	}
}

// Hidden reports whether a character is invisible to people but not to models, or changes the text direction.
func Hidden(r rune) bool { return toolchange.Hidden(r) }
