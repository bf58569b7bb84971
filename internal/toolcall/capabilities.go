package toolcall

import (
	"encoding/json"
	"errors"
)

// abilities are the requests that a client says it answers.
type abilities struct {
	Elicitation *struct{ Form, URL *struct{} } `json:"elicitation"`
	Sampling    *struct{}                      `json:"sampling"`
	Roots       *struct{}                      `json:"roots"`
}

func abilitiesOf(capabilities json.RawMessage) (can abilities) {
	if len(capabilities) < len(`{"roots":{}}`) || json.Unmarshal(capabilities, &can) != nil {
		return abilities{}
	}
	return can
}

func (can abilities) fillForms() bool {
	return can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}
func (can abilities) openURLs() bool { return can.Elicitation != nil && can.Elicitation.URL != nil }

// errNotAsked says that a client is not asked what a server wants of it. The server hears that there is no such method.
var errNotAsked = errors.New("the client does not answer this request")

// answers tells whether a server's request may go to the client: it is one of those that there are, and the client says that it answers
// it. Anything else a client could take for a request of ours.
func (can abilities) answers(method string, params json.RawMessage) bool {
	switch method {
	case "elicitation/create":
		var mode string
		raw, _ := member(params, "mode")
		if json.Unmarshal(raw, &mode) == nil && mode == "url" {
			return can.openURLs()
		}
		return can.fillForms()
	case "sampling/createMessage":
		return can.Sampling != nil
	case "roots/list":
		return can.Roots != nil
	}
	return false
}

// asked are the requests that a server may send to a client, of those that the client says that it answers, in one form for all
// clients: sessions are kept apart by it. Empty: none.
func asked(capabilities json.RawMessage) string {
	can := abilitiesOf(capabilities)
	all := ""
	add := func(member string) {
		if all != "" {
			all += ","
		}
		all += member
	}
	switch {
	case can.openURLs() && can.fillForms():
		add(`"elicitation":{"form":{},"url":{}}`)
	case can.openURLs():
		add(`"elicitation":{"url":{}}`)
	case can.fillForms():
		add(`"elicitation":{"form":{}}`)
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
