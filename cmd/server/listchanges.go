package main

import (
	"patchbay/internal/listchanges"
	"patchbay/internal/telemetry"
)

// buildListChanges builds the listeners for changed lists of connectors' servers. The syncer has to exist.
func (h *app) buildListChanges() *listchanges.Manager {
	m := listchanges.New(listchanges.Options{
		Store: h.database.Store, Syncer: h.syncer, Instance: h.instance, Log: h.run.log,
	})
	h.metrics.WatchListening(func() telemetry.ListeningStats {
		s, off := m.Stats(), map[string]int{}
		for reason, n := range s.Off {
			off[string(reason)] = n
		}
		return telemetry.ListeningStats{Streams: s.Streams, Notified: s.Notified, Syncs: s.Syncs, Off: off}
	})
	return m
}
