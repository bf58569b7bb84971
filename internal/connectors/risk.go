package connectors

import "patchbay/internal/toolchange"

// What the policy hold_risky lets pass without a person, package toolchange judges: a change whose risk is not high.
//
//	held    a new tool that does not say that it only reads; changed text that models read; new or wider parameters; an annotation
//	        that became riskier; hidden characters, new addresses, words that order a model about, a name or a text that means
//	        another connector's tool; and whatever cannot be told
//	passes  title, icons, _meta and white space; fewer or narrower parameters; another output; an annotation that became safer

// accepts tells whether the policy takes a change without a person.
func (p ToolChangePolicy) accepts(c toolchange.Change) bool {
	switch p {
	case ToolChangesAuto:
		return true
	case ToolChangesHoldAll:
		return false
	default:
		return c.Risk != toolchange.High
	}
}

// Hidden tells whether a character is one that a model reads and a person does not see, or that turns text around.
func Hidden(r rune) bool { return toolchange.Hidden(r) }
