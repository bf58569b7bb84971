package events

import (
	"fmt"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/connectors"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

// sweepState is a stream's state of a sync of all connectors.
type sweepState struct {
	last       connectors.BulkSync
	progressed bool // a sync of this process progressed since the last poll
}

// pollReplicas sends changes made by other replicas.
func (s *stream) pollReplicas() error {
	if err := s.sendChangedRows(); err != nil {
		return err
	}
	return s.sendSweep()
}

// onProgress sends the row of a connector whose sync progressed. Syncs of a sweep are polled once a second
// instead of at each of a thousand connectors' steps.
func (s *stream) onProgress(p toolsync.Progress) error {
	s.sweep.progressed = true
	if s.sweep.last.Open() {
		return nil
	}
	return s.sendProgress(p)
}

// pollSweep sends the sweep's progress and changed rows. The number of queries per second does not depend on
// the number of connectors.
func (s *stream) pollSweep() error {
	open := s.sweep.last.Open()
	if !open && !s.sweep.progressed {
		return nil
	}
	s.sweep.progressed = false
	if err := s.sendSweep(); err != nil || !open {
		return err
	}
	return s.sendChangedRows()
}

// sendSweep sends the newest sweep's progress when it changed.
func (s *stream) sendSweep() error {
	now, err := s.h.Store.Tenant(s.actor.Tenant.ID).Syncs().NewestSweep(s.ctx)
	if err != nil {
		return fmt.Errorf("read sweep: %w", err)
	}
	if now == s.sweep.last {
		return nil
	}
	if now.Open() && !s.sweep.last.Open() {
		clear(s.runningSyncs) // from here on the rows show the state
	}
	s.sweep.last = now
	return s.sendComponent(templates.SweepChanged(connectorpages.SweepView(s.ctx, now, s.h.Now())))
}
