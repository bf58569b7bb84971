package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// backlogPatience is how long the database may take at a scrape. Past it the database counts as down, and the other metrics are told all the same.
const backlogPatience = 2 * time.Second

// Backlog is what waits in the database, of all processes together.
type Backlog struct {
	Due       int           // connectors whose sync is due and that no process has
	Late      time.Duration // of the one that has waited for longest
	Queued    int           // syncs that somebody asked for
	Waited    time.Duration // of the one that has waited for longest
	Instances int
	Jobs      []Jobs
}

// Jobs is how many background jobs of a kind are in a state.
type Jobs struct {
	Kind, State string
	Count       int
}

// WatchBacklog reads the backlog at every scrape.
func (m *Metrics) WatchBacklog(read func(context.Context) (Backlog, error)) {
	m.registry.MustRegister(&backlogCollector{
		read:      read,
		up:        prometheus.NewDesc("patchbay_db_up", "1 if the database answered this scrape, else 0, without the queue metrics.", nil, nil),
		due:       prometheus.NewDesc("patchbay_syncs_due", "Connectors due for a sync and not claimed, over all tenants, at most 1000 in each of 16 shards.", nil, nil),
		late:      prometheus.NewDesc("patchbay_syncs_late_seconds", "Time that the oldest unclaimed sync is overdue.", nil, nil),
		queued:    prometheus.NewDesc("patchbay_syncs_queued", "Requested syncs that have not started.", nil, nil),
		waited:    prometheus.NewDesc("patchbay_syncs_queued_seconds", "Time that the oldest queued sync has waited.", nil, nil),
		instances: prometheus.NewDesc("patchbay_instances", "Live processes, by database heartbeat.", nil, nil),
		jobs:      prometheus.NewDesc("patchbay_jobs", "Unfinished background jobs, by kind and state.", []string{"kind", "state"}, nil),
	})
}

type backlogCollector struct {
	read                                           func(context.Context) (Backlog, error)
	up, due, late, queued, waited, instances, jobs *prometheus.Desc
}

// Describe names the metrics of what waits.
func (c *backlogCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.up, c.due, c.late, c.queued, c.waited, c.instances, c.jobs} {
		ch <- d
	}
}

// Collect reads the database once.
func (c *backlogCollector) Collect(ch chan<- prometheus.Metric) {
	defer safe.Recover(safe.Task)
	ctx, cancel := context.WithTimeout(context.Background(), backlogPatience)
	defer cancel()
	b, err := c.read(ctx)
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if err != nil {
		gauge(c.up, 0)
		return
	}
	gauge(c.up, 1)
	gauge(c.due, float64(b.Due))
	gauge(c.late, b.Late.Seconds())
	gauge(c.queued, float64(b.Queued))
	gauge(c.waited, b.Waited.Seconds())
	gauge(c.instances, float64(b.Instances))
	for _, j := range b.Jobs {
		gauge(c.jobs, float64(j.Count), j.Kind, j.State)
	}
}

// Describe names every metric that there is, those of which nothing was counted yet among them.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) { m.registry.Describe(ch) }
