package admin

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// changeQuery is which changes a page lists, as its address says.
type changeQuery struct {
	connector string
	state     string // empty: those that wait
}

// anyChange is the state in an address that asks for all of them.
const anyChange = "all"

func readChangeQuery(q url.Values) changeQuery {
	return changeQuery{connector: q.Get("connector"), state: q.Get("state")}
}

func (q changeQuery) filtered() bool { return q != changeQuery{} }

// values are the query as an address has it.
func (q changeQuery) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"connector": q.connector, "state": q.state} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// leadingBack is the address of a change, from which one comes back to the list that was left.
func leadingBack(href, list string) string {
	if list == "/changes" {
		return href
	}
	back := url.Values{"return_to": {list}}
	if strings.Contains(href, "?") {
		return href + "&" + back.Encode()
	}
	return withQuery(href, back)
}

// filter finds what the names in the query stand for; known are connectors that were read already. some is false where there is no
// such connector or state, and no change therefore.
func (q changeQuery) filter(ctx context.Context, tenant *store.Tenant, known []connectors.Connector) (f store.ChangeFilter, some bool, err error) {
	f.State = connectors.ChangeState(cmp.Or(q.state, string(connectors.ChangeWaiting)))
	if q.state == anyChange {
		f.State = ""
	} else if !slices.Contains(changeStates, f.State) {
		return f, false, nil
	}
	if q.connector != "" {
		c, err := connectorBySlug(ctx, tenant, q.connector, known)
		if fault.Is(err, fault.NotFound) {
			return f, false, nil
		}
		if err != nil {
			return f, false, err
		}
		f.Connector = &c.ID
	}
	return f, true, nil
}

// changeStates are those that changes are filtered by.
var changeStates = []connectors.ChangeState{
	connectors.ChangeWaiting, connectors.ChangeAccepted, connectors.ChangeRejected, connectors.ChangeAutomatic, connectors.ChangeSuperseded,
}

func changeStateOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: words.T(ctx, "Waiting")}}
	for _, s := range changeStates[1:] {
		options = append(options, templates.Option{Value: string(s), Label: changeState(ctx, connectors.ToolChange{State: s}).Text})
	}
	return append(options, templates.Option{Value: anyChange, Label: words.T(ctx, "All states")})
}
