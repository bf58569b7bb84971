package toolsync

import "context"

// HeartbeatNow sends one heartbeat.
func (s *Syncer) HeartbeatNow(ctx context.Context) { s.sendHeartbeat(ctx) }
