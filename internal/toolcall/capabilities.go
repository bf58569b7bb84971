package toolcall

import "encoding/json"

// asked are the requests that a server may send to a client, of those that the client says that it answers, in one form for all
// clients: sessions are kept apart by it. Empty: none.
func asked(capabilities json.RawMessage) string {
	var can struct {
		Elicitation *struct{ Form, URL *struct{} } `json:"elicitation"`
		Sampling    *struct{}                      `json:"sampling"`
		Roots       *struct{}                      `json:"roots"`
	}
	if len(capabilities) < len(`{"roots":{}}`) || json.Unmarshal(capabilities, &can) != nil {
		return ""
	}
	all := ""
	add := func(member string) {
		if all != "" {
			all += ","
		}
		all += member
	}
	if e := can.Elicitation; e != nil {
		switch {
		case e.URL != nil && e.Form != nil:
			add(`"elicitation":{"form":{},"url":{}}`)
		case e.URL != nil:
			add(`"elicitation":{"url":{}}`)
		default:
			add(`"elicitation":{"form":{}}`)
		}
	}
	if can.Sampling != nil {
		add(`"sampling":{}`)
	}
	if can.Roots != nil {
		add(`"roots":{}`)
	}
	if all == "" {
		return ""
	}
	return "{" + all + "}"
}
