package jobs

import "patchbay/internal/toolsync"

// NewSyncToolsWorker makes the worker without the machinery around it.
func NewSyncToolsWorker(s *toolsync.Syncer) *SyncToolsWorker { return newSyncToolsWorker(s) }
