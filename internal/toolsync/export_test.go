package toolsync

import "context"

// BeatNow is one beat, without waiting for its time.
func (s *Syncer) BeatNow(ctx context.Context) { s.beatOnce(ctx) }
