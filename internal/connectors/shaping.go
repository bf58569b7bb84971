package connectors

import "patchbay/internal/fault"

// Bounds of a [Shaping].
const (
	MinShapingBudget = 200 // tokens
	MaxShapingBudget = 1_000_000
	MaxShapingFields = 4 << 10 // bytes of the filter
	MaxShapedTools   = 500     // of one grant
)

// Shaping says how the answers of a tool are shortened for an agent. The zero value: not at all.
type Shaping struct {
	Fields string `json:"fields,omitempty"` // a jq filter for answers in JSON; empty: all fields
	Budget int    `json:"budget,omitempty"` // estimated tokens; 0: no bound
}

// IsZero reports whether answers stay as they are.
func (s Shaping) IsZero() bool { return s == Shaping{} }

// Validate returns the invalid fields. The filter is compiled elsewhere.
func (s Shaping) Validate() []fault.Field {
	var c validation
	if s.Budget != 0 && (s.Budget < MinShapingBudget || s.Budget > MaxShapingBudget) {
		c.addField("budget", "Must be %d–%d tokens.", MinShapingBudget, MaxShapingBudget)
	}
	if len(s.Fields) > MaxShapingFields {
		c.addField("fields", "Must be at most %d KiB.", MaxShapingFields>>10)
	}
	return c.fields
}
