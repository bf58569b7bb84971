package toolsync

import (
	"sync"

	"patchbay/internal/connectors"
)

// Progress says how far a run of this process is.
type Progress struct {
	Connector connectors.ConnectorID
	Run       connectors.SyncRunID
	Phase     string // connect, discover, initialize, initialized, list, close; empty at the start and when Done
	Page      int    // pages of the list that arrived
	Tools     int    // tools that arrived
	Done      bool   // the run is finished: read the connector anew
}

// feedBuffer is how many updates a watcher may lag behind before it loses the oldest.
const feedBuffer = 64

// feed hands progress to whoever watches a tenant. It never waits for a watcher. The zero value works.
type feed struct {
	mu       sync.Mutex
	watchers map[connectors.TenantID]map[chan Progress]struct{} // guarded by mu
}

// Watch returns the progress of a tenant's runs in this process, until stop is called; the channel is then closed. A slow
// watcher misses updates, the oldest first; what it read last may be stale, and the next Done is the time to read anew.
func (s *Syncer) Watch(tenant connectors.TenantID) (events <-chan Progress, stop func()) {
	ch := make(chan Progress, feedBuffer)
	s.feed.add(tenant, ch)
	return ch, sync.OnceFunc(func() { s.feed.remove(tenant, ch) })
}

func (f *feed) add(tenant connectors.TenantID, ch chan Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watchers == nil {
		f.watchers = map[connectors.TenantID]map[chan Progress]struct{}{}
	}
	if f.watchers[tenant] == nil {
		f.watchers[tenant] = map[chan Progress]struct{}{}
	}
	f.watchers[tenant][ch] = struct{}{}
}

func (f *feed) remove(tenant connectors.TenantID, ch chan Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers[tenant], ch)
	if len(f.watchers[tenant]) == 0 {
		delete(f.watchers, tenant)
	}
	close(ch)
}

func (f *feed) send(tenant connectors.TenantID, p Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.watchers[tenant] {
		select {
		case ch <- p:
			continue
		default:
		}
		if !p.Done { // the next update says as much
			continue
		}
		select { // the end of a run must arrive: the oldest update makes room for it
		case <-ch:
		default:
		}
		ch <- p // this goroutine alone sends, under mu, so that there is room now
	}
}
