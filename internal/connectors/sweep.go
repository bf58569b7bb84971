package connectors

import (
	"time"

	"github.com/google/uuid"
)

// Sweep is a sync of all enabled connectors of a tenant, and how far it is. The zero value: there was none.
type Sweep struct {
	ID         uuid.UUID
	Total      int
	OK, Failed int       // of them, the ones that ended
	LastAt     time.Time // when the last of those ended
}

// Done is how many syncs have ended.
func (s Sweep) Done() int { return s.OK + s.Failed }

// Open tells whether some have not.
func (s Sweep) Open() bool { return s.Done() < s.Total }
