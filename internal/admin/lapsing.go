package admin

import (
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// How far ahead, and how many accounts, the forecast looks.
const (
	foresight  = 72 * time.Hour
	maxLapsing = 20
)

// lapsing foretells which accounts end soon unless a person connects them again; nil: none.
func (h *Handler) lapsing(r *http.Request) (*templates.Lapsing, error) {
	soon, err := h.tenant(r).ExpiringCredentials(r.Context(), foresight, maxLapsing)
	if err != nil || len(soon) == 0 {
		return nil, err
	}
	return lapsingView(soon, h.now()), nil
}

func lapsingView(soon []store.ExpiringCredential, now time.Time) *templates.Lapsing {
	within := " within " + strconv.Itoa(int(foresight.Hours())) + " hours"
	l := &templates.Lapsing{Title: plural(len(soon), "account") + " lapse" + within}
	switch len(soon) {
	case 1:
		l.Title = "1 account lapses" + within
	case maxLapsing:
		l.Title = strconv.Itoa(maxLapsing) + " or more accounts lapse" + within
	}
	for _, one := range soon {
		l.Rows = append(l.Rows, templates.LapsingRow{
			Connector: one.ConnectorName, Agent: one.AgentName, When: when(one.EndsAt, now),
			Href: accountPath(one.ConnectorSlug, one.AgentSlug),
		})
	}
	return l
}
