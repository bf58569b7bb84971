package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func (h *Handler) mountHealth() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/health", id: "getConnectorHealth", tag: "Connectors",
		summary: "Get a connector's health, with hourly uptime and latency", permission: connectors.PermRead,
	}, h.connectorHealth)
}

type connectorHealthInput struct {
	ConnectorPath
	Hours int `query:"hours" minimum:"1" maximum:"168" default:"24" doc:"Hours to look back, including the current one: 24 is a day, 168 a week."`
}

// connectorHealthJSON is a connector's health, now and by hour.
type connectorHealthJSON struct {
	Health    healthJSON       `json:"health"`
	Uptime    *float64         `json:"uptime" doc:"Share of syncs that the server answered, from 0 to 1; each hour with syncs has the same weight. Null without syncs."`
	LatencyMS *int64           `json:"latency_ms" doc:"Average duration of a sync. Null without syncs."`
	Hours     []healthHourJSON `json:"hours" nullable:"false" doc:"Oldest first, without hours that had no sync."`
}

// healthHourJSON is the result of a connector's syncs in one hour.
type healthHourJSON struct {
	Hour   time.Time `json:"hour" doc:"Start of the hour."`
	OK     int       `json:"ok" doc:"Syncs that the server answered, including refused credentials."`
	Failed int       `json:"failed" doc:"Other syncs, except those not sent because a credential was missing."`
	MeanMS int64     `json:"mean_ms"`
	MaxMS  int64     `json:"max_ms"`
}

func (h *Handler) connectorHealth(ctx context.Context, actor auth.Actor, in *connectorHealthInput) (*response[connectorHealthJSON], error) {
	now := time.Now()
	var c connectors.Connector
	var hours []connectors.HealthHour
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(ctx, in.ref()); err != nil {
			return err
		}
		// The current hour is included.
		hours, err = tx.Syncs().ConnectorHealth(ctx, c.ID, now.Add(time.Hour-time.Duration(in.Hours)*time.Hour))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &response[connectorHealthJSON]{Body: viewHours(c.Health(now), hours)}, nil
}

func viewHours(health connectors.Health, hours []connectors.HealthHour) connectorHealthJSON {
	out := connectorHealthJSON{Health: viewHealth(health), Hours: make([]healthHourJSON, len(hours))}
	for i, one := range hours {
		out.Hours[i] = healthHourJSON{
			Hour: one.Hour, OK: one.OK, Failed: one.Failed, MeanMS: one.Mean.Milliseconds(), MaxMS: one.Max.Milliseconds(),
		}
	}
	if total := connectors.TotalUptime(hours); total.Syncs() > 0 {
		out.Uptime, out.LatencyMS = &total.Uptime, new(total.Mean.Milliseconds())
	}
	return out
}
