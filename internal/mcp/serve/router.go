package serve

import (
	"context"
	"time"
)

// Router carries messages between the processes that serve an address, by mailboxes. A mailbox exists once
// something is posted to it. Its name is short, unguessable, and made of letters, digits, "-" and "_".
//
// When another process has posted to a mailbox, [Server.OnMailboxMessage] must be called with its name, soon. After a
// time without such notices, it must be called for those of [Server.WaitingBoxes] that hold messages.
type Router interface {
	// Post posts a message to a mailbox of the caller, kept for retention.
	Post(ctx context.Context, caller, box string, message []byte, retention time.Duration) error
	// Fetch returns the messages of the caller's mailbox in order, and leaves them there.
	Fetch(ctx context.Context, caller, box string) ([][]byte, error)
	// Take returns the messages of the caller's mailbox in order, and removes them: each goes to one of concurrent callers.
	Take(ctx context.Context, caller, box string) ([][]byte, error)
}
