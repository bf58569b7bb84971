package toolsync

import (
	"sync"

	"patchbay/internal/connectors"
)

// Progress is a step of a run in this process.
type Progress struct {
	Connector connectors.ConnectorID
	Run       connectors.SyncRunID
	Phase     string // connect, discover, initialize, initialized, list, close; empty at the start and when Done
	Page      int    // received pages of the list
	Tools     int    // received tools
	Done      bool   // the run is finished: read the connector again
}

// feedBuffer is the number of updates that a watcher may lag before it loses the oldest.
const feedBuffer = 64

// progressFeed sends progress to the watchers of a tenant and never blocks on one. The zero value works.
type progressFeed struct {
	mu       sync.Mutex
	watchers map[connectors.TenantID]map[chan Progress]struct{} // guarded by mu
}

// Watch returns the progress of a tenant's runs in this process; stop closes the channel. A slow watcher loses
// the oldest updates but always gets Done.
func (s *Syncer) Watch(tenant connectors.TenantID) (events <-chan Progress, stop func()) {
	ch := make(chan Progress, feedBuffer)
	s.feed.addWatcher(tenant, ch)
	return ch, sync.OnceFunc(func() { s.feed.removeWatcher(tenant, ch) })
}

func (f *progressFeed) addWatcher(tenant connectors.TenantID, ch chan Progress) {
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

func (f *progressFeed) removeWatcher(tenant connectors.TenantID, ch chan Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers[tenant], ch)
	if len(f.watchers[tenant]) == 0 {
		delete(f.watchers, tenant)
	}
	close(ch)
}

func (f *progressFeed) send(tenant connectors.TenantID, p Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.watchers[tenant] {
		select {
		case ch <- p:
			continue
		default:
		}
		if !p.Done { // a later update replaces it
			continue
		}
		select { // Done must arrive: drop the oldest update for it
		case <-ch:
		default:
		}
		ch <- p // never blocks: only this goroutine sends, under mu
	}
}
