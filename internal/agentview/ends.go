package agentview

import "time"

// Ends of grants are decided by the database's time: the time that remains at a read is added to the moment at which the read
// began, by the process's own clock. So no process permits a call after the end, however its clock is set, and each refuses
// up to one round trip earlier. A view is not used after the first end in it, and at most for maxEndingAge before.

// localTime returns a time of the database by the process's clock, at most one round trip too early; zero for nil.
func (b *viewBuilder) localTime(end *time.Time) time.Time {
	if end == nil {
		return time.Time{}
	}
	return b.began.Add(end.Sub(b.rows.Now))
}

// setEnds sets when the connector's grant ends, and the next end of the view.
func (b *viewBuilder) setEnds(connector *ConnectorView) {
	ends := connector.granted.Ends
	if ends == nil {
		return
	}
	connector.endsAt = b.localTime(ends.Until)
	connector.lastEndsAt = b.localTime(connector.granted.LastEnd())
	next := connector.granted.NextEnd(b.rows.Now)
	if next.IsZero() {
		return
	}
	if at := b.localTime(&next); b.view.endsAt.IsZero() || at.Before(b.view.endsAt) {
		b.view.endsAt = at
	}
}

func (b *viewBuilder) setToolEnd(connector *ConnectorView, t *Tool) {
	t.End, _ = connector.granted.ToolEnd(t.Name)
	t.endsAt = b.localTime(t.End)
}

// HasEnded reports whether the grant of the tool has ended by now.
func (t *Tool) HasEnded() bool {
	return !t.endsAt.IsZero() && isPast(t.endsAt, t.Connector.cache.now())
}

// HasEnded reports whether the grant has ended by now. Tools may have later ends.
func (connector *ConnectorView) HasEnded() bool {
	return !connector.endsAt.IsZero() && isPast(connector.endsAt, connector.cache.now())
}

// PermitsNothing reports whether all of the grant has ended by now, tools with their own ends included.
func (connector *ConnectorView) PermitsNothing() bool {
	return !connector.lastEndsAt.IsZero() && isPast(connector.lastEndsAt, connector.cache.now())
}

// HasEnds reports whether a part of the grant ends or ended.
func (connector *ConnectorView) HasEnds() bool { return connector.granted.Ends != nil }

// Until returns when the grant ends or ended, but for tools with their own ends; nil: never.
func (connector *ConnectorView) Until() *time.Time {
	if connector.granted.Ends == nil {
		return nil
	}
	return connector.granted.Ends.Until
}

// isPast compares the monotonic and the wall clock. The monotonic clock stands still while the machine is suspended.
func isPast(end, now time.Time) bool {
	return !end.IsZero() && (!end.After(now) || !end.Round(0).After(now.Round(0)))
}

// maxEndingAge bounds the age of a cached view in which a grant will end.
const maxEndingAge = 5 * time.Minute

// isOldEnding reports whether the view must be read again because a grant in it will end.
func (l *loadedView) isOldEnding(now time.Time) bool {
	return !l.endsAt.IsZero() && isPast(l.stamp.readAt.Add(maxEndingAge), now)
}

// afterNextEnd signals at the next end of a grant of an agent with listeners; nil: none follows.
func (c *Cache) afterNextEnd() <-chan time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var next time.Time
	for entry := range c.ending {
		if next.IsZero() || entry.endsAt.Before(next) {
			next = entry.endsAt
		}
	}
	if next.IsZero() {
		return nil
	}
	return time.After(min(next.Sub(c.now()), maxEndingAge)) // a timer stands still while the machine is suspended
}

// markEnded marks the entries with an end that has come, for a notification of their listeners.
func (c *Cache) markEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for entry := range c.ending {
		if isPast(entry.endsAt, now) {
			delete(c.ending, entry)
			c.markDirty(entry)
		}
	}
}

// setEnd remembers the next end of an entry's grants. Cache.mu is held.
func (c *Cache) setEnd(entry *agentEntry, end time.Time) {
	if entry.endsAt = end; end.IsZero() || len(entry.listeners) == 0 {
		delete(c.ending, entry)
		return
	}
	c.ending[entry] = true
}
