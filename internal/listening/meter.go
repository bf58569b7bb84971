package listening

import "time"

const (
	perMinute = 600 // messages that a server may send: ten a second are more than anybody reads
	opening   = 10  // what taking a stream up again counts as
)

// meter counts what is said within a minute.
type meter struct {
	since time.Time
	count int
}

// take counts n more, and tells whether that is still fine.
func (m *meter) take(n int, now time.Time) bool {
	if now.Sub(m.since) >= time.Minute {
		m.since, m.count = now, 0
	}
	m.count += n
	return m.count <= perMinute
}
