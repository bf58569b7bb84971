package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/words"
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
	return lapsingView(r.Context(), soon, h.now()), nil
}

func lapsingView(ctx context.Context, soon []store.ExpiringCredential, now time.Time) *templates.Lapsing {
	hours := strconv.Itoa(int(foresight.Hours()))
	l := &templates.Lapsing{Title: words.N(ctx, len(soon), "%[1]s account lapses within %[2]s hours", "%[1]s accounts lapse within %[2]s hours", hours)}
	if len(soon) == maxLapsing {
		l.Title = words.T(ctx, "%[1]s or more accounts lapse within %[2]s hours", strconv.Itoa(maxLapsing), hours)
	}
	for _, one := range soon {
		l.Rows = append(l.Rows, templates.LapsingRow{
			Connector: one.ConnectorName, Agent: one.AgentName, When: when(ctx, one.EndsAt, now),
			Href: accountPath(one.ConnectorSlug, one.AgentSlug),
		})
	}
	return l
}
