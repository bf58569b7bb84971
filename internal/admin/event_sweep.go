package admin

import (
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

// sweeping is what a stream knows of a sync of all connectors.
type sweeping struct {
	last  connectors.Sweep
	heard bool // a run of this process has moved on since the last look
}

// lookAround sends what another replica may have done.
func (s *stream) lookAround() error {
	if err := s.refresh(); err != nil {
		return err
	}
	return s.sweepNews()
}

// hear sends the row of a connector whose run has moved on, but for those of a sweep: what a thousand runs do is looked at once a
// second, and not at each of their steps.
func (s *stream) hear(p toolsync.Progress) error {
	s.sweep.heard = true
	if s.sweep.last.Open() {
		return nil
	}
	return s.progress(p)
}

// followSweep looks how far the sweep is, and what became of the rows, where something may have changed: so many queries a second,
// however many connectors are synced.
func (s *stream) followSweep() error {
	open := s.sweep.last.Open()
	if !open && !s.sweep.heard {
		return nil
	}
	s.sweep.heard = false
	if err := s.sweepNews(); err != nil || !open {
		return err
	}
	return s.refresh()
}

// sweepNews sends how far the newest sweep is, where that is another thing than before.
func (s *stream) sweepNews() error {
	now, err := s.h.store.Tenant(s.actor.Tenant.ID).NewestSweep(s.ctx)
	if err != nil {
		return fmt.Errorf("read sweep: %w", err)
	}
	if now == s.sweep.last {
		return nil
	}
	if now.Open() && !s.sweep.last.Open() {
		clear(s.running) // from now on the rows tell
	}
	s.sweep.last = now
	return s.show(templates.SweepChanged(sweepView(s.ctx, now, s.h.now())))
}
