package listchanges

import "time"

const (
	maxPerMinute = 600 // messages of a server: ten a second
	openingCost  = 10  // messages that a reopened stream counts as
)

// messageCounter counts messages within a minute.
type messageCounter struct {
	startedAt time.Time
	count     int
}

// add counts n messages and reports whether the limit holds.
func (m *messageCounter) add(n int, now time.Time) bool {
	if now.Sub(m.startedAt) >= time.Minute {
		m.startedAt, m.count = now, 0
	}
	m.count += n
	return m.count <= maxPerMinute
}
