package client

import "encoding/json"

// ToolSet is all tools of a connector, future ones too, or some by the server's names.
type ToolSet struct {
	All   bool
	Names []string
}

// MarshalJSON implements json.Marshaler: "all", or the names.
func (s ToolSet) MarshalJSON() ([]byte, error) {
	if s.All {
		return []byte(`"all"`), nil
	}
	return json.Marshal(append([]string{}, s.Names...))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *ToolSet) UnmarshalJSON(raw []byte) error {
	if string(raw) == `"all"` {
		*s = ToolSet{All: true}
		return nil
	}
	*s = ToolSet{}
	return json.Unmarshal(raw, &s.Names)
}

// ListedTool is a tool or a quarantined entry. Exactly one is set.
type ListedTool struct {
	Tool        *Tool
	Quarantined *QuarantinedTool
}

// MarshalJSON implements json.Marshaler.
func (t ListedTool) MarshalJSON() ([]byte, error) {
	if t.Quarantined != nil {
		return json.Marshal(t.Quarantined)
	}
	return json.Marshal(t.Tool)
}

// UnmarshalJSON implements json.Unmarshaler. A quarantined entry is kept as sent.
func (t *ListedTool) UnmarshalJSON(raw []byte) error {
	var probe struct {
		Raw json.RawMessage `json:"raw"`
	}
	if err := json.Unmarshal(raw, &probe); err != nil {
		return err
	}
	*t = ListedTool{}
	if probe.Raw != nil {
		return json.Unmarshal(raw, &t.Quarantined)
	}
	return json.Unmarshal(raw, &t.Tool)
}
