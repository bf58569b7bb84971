package connectors

import (
	"time"

	"github.com/google/uuid"
)

// BulkSync is the progress of a sync of all enabled connectors. The zero value: none.
type BulkSync struct {
	ID                    uuid.UUID
	Total                 int
	OK, Failed, Cancelled int       // ended
	LastAt                time.Time // end of the last of them
}

// Done returns the number of ended syncs.
func (s BulkSync) Done() int { return s.OK + s.Failed + s.Cancelled }

// Open reports whether some are not ended.
func (s BulkSync) Open() bool { return s.Done() < s.Total }
