package store

import (
	"encoding/json"
	"maps"
	"slices"
)

// FieldChange is the change of one field by an action.
type FieldChange struct {
	Field  string
	Before json.RawMessage // nil: absent
	After  json.RawMessage // nil: absent
}

// Same reports whether the value was replaced by an equal one, as a secret can be.
func (c FieldChange) Same() bool {
	return c.Before != nil && c.After != nil && string(c.Before) == string(c.After)
}

// Changes returns the entry's changed fields by name. It is empty for actions without changes and for entries
// older than recorded states.
func (e RecordedEvent) Changes() []FieldChange {
	var states struct{ Before, After json.RawMessage }
	if json.Unmarshal(e.Detail, &states) != nil {
		return nil
	}
	before, after := parseFields(states.Before), parseFields(states.After)
	all := maps.Clone(before)
	maps.Copy(all, after)
	changes := make([]FieldChange, 0, len(all))
	for _, field := range slices.Sorted(maps.Keys(all)) {
		changes = append(changes, FieldChange{Field: field, Before: before[field], After: after[field]})
	}
	return changes
}

// Rest returns the entry's detail without its changes.
func (e RecordedEvent) Rest() json.RawMessage {
	detail := parseFields(e.Detail)
	for _, side := range []string{"before", "after"} {
		if len(parseFields(detail[side])) > 0 || string(detail[side]) == "{}" {
			delete(detail, side)
		}
	}
	rest, err := json.Marshal(detail)
	if err != nil {
		return e.Detail
	}
	return rest
}

// parseFields returns an object's fields; nil if the JSON is no object, as in old entries.
func parseFields(object json.RawMessage) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil || fields == nil {
		return map[string]json.RawMessage{}
	}
	return fields
}
