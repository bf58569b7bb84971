package store

import (
	"encoding/json"
	"maps"
	"slices"
)

// FieldChange is what an act made of one field.
type FieldChange struct {
	Field  string
	Before json.RawMessage // nil: there was none
	After  json.RawMessage // nil: there is none
}

// Same tells that the act put the same there again, as a secret.
func (c FieldChange) Same() bool {
	return c.Before != nil && c.After != nil && string(c.Before) == string(c.After)
}

// Changes are what the entry's act changed, by the fields' names. Entries of acts that change nothing have none, nor have entries from before
// acts recorded it.
func (e RecordedEvent) Changes() []FieldChange {
	var states struct{ Before, After json.RawMessage }
	if json.Unmarshal(e.Detail, &states) != nil {
		return nil
	}
	before, after := fieldsOf(states.Before), fieldsOf(states.After)
	all := maps.Clone(before)
	maps.Copy(all, after)
	changes := make([]FieldChange, 0, len(all))
	for _, field := range slices.Sorted(maps.Keys(all)) {
		changes = append(changes, FieldChange{Field: field, Before: before[field], After: after[field]})
	}
	return changes
}

// Rest is the entry's detail without what it changed.
func (e RecordedEvent) Rest() json.RawMessage {
	detail := fieldsOf(e.Detail)
	for _, side := range []string{"before", "after"} {
		if len(fieldsOf(detail[side])) > 0 || string(detail[side]) == "{}" {
			delete(detail, side)
		}
	}
	rest, err := json.Marshal(detail)
	if err != nil {
		return e.Detail
	}
	return rest
}

// fieldsOf are an object's; none: it is no object, as entries from before acts recorded states may have it.
func fieldsOf(object json.RawMessage) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil || fields == nil {
		return map[string]json.RawMessage{}
	}
	return fields
}
