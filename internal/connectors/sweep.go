package connectors

import (
	"time"

	"github.com/google/uuid"
)

// Sweep is the progress of a sync of all enabled connectors. The zero value: none.
type Sweep struct {
	ID         uuid.UUID
	Total      int
	OK, Failed int       // ended
	LastAt     time.Time // end of the last of them
}

// Done returns the number of ended syncs.
func (s Sweep) Done() int { return s.OK + s.Failed }

// Open reports whether some are not ended.
func (s Sweep) Open() bool { return s.Done() < s.Total }
