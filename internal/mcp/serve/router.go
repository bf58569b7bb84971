package serve

import (
	"context"
	"time"
)

// Router carries messages between the processes that serve the same address, by way of boxes that exist as soon as something is put
// into them. A box's name is short, made of letters, digits, "-" and "_", and cannot be guessed.
//
// When something was put into a box by another process, [Server.Arrived] must be called with its name, soon.
type Router interface {
	// Post puts a message of who's into a box, where it stays that long.
	Post(ctx context.Context, who, box string, message []byte, stay time.Duration) error
	// Fetch reads all that was put into who's box so far, in that order, and leaves it there.
	Fetch(ctx context.Context, who, box string) ([][]byte, error)
}
