package tools

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ChangeQuery is the page's filter.
type ChangeQuery struct {
	connector string
	state     string // empty: waiting
}

// anyChange is the state parameter for all states.
const anyChange = "all"

// ReadChangeQuery reads the filters of a list of changes from an address.
func ReadChangeQuery(q url.Values) ChangeQuery {
	return ChangeQuery{connector: q.Get("connector"), state: q.Get("state")}
}

// IsFiltered reports whether any filter is set.
func (q ChangeQuery) IsFiltered() bool { return q != ChangeQuery{} }

// URLValues returns the filters as an address has them.
func (q ChangeQuery) URLValues() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"connector": q.connector, "state": q.state} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// withReturnTo adds the list's address to that of a change.
func withReturnTo(href, list string) string {
	if list == "/changes" {
		return href
	}
	query := url.Values{"return_to": {list}}
	if strings.Contains(href, "?") {
		return href + "&" + query.Encode()
	}
	return shell.WithQuery(href, query)
}

// ToFilter resolves the query's names, first among the known connectors. possible is false if a connector or
// state does not exist, so that no change can match.
func (q ChangeQuery) ToFilter(ctx context.Context, tenant store.Connectors, known []connectors.Connector) (f store.ChangeFilter, possible bool, err error) {
	f.State = connectors.ChangeState(cmp.Or(q.state, string(connectors.ChangeWaiting)))
	if q.state == anyChange {
		f.State = ""
	} else if !slices.Contains(changeStates, f.State) {
		return f, false, nil
	}
	if q.connector != "" {
		c, err := shell.ConnectorBySlug(ctx, tenant, q.connector, known)
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

// changeStates are the states that the filter offers.
var changeStates = []connectors.ChangeState{
	connectors.ChangeWaiting, connectors.ChangeAccepted, connectors.ChangeRejected, connectors.ChangeKept, connectors.ChangeAutomatic, connectors.ChangeSuperseded,
}

func changeStateOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Waiting")}}
	for _, s := range changeStates[1:] {
		options = append(options, templates.Option{Value: string(s), Label: changeState(ctx, connectors.ToolChange{State: s}).Text})
	}
	return append(options, templates.Option{Value: anyChange, Label: i18n.T(ctx, "All states")})
}
