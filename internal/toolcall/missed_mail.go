package toolcall

import "context"

// readMissedMail handles mail for calls of this process that came without a notice. A notice of later mail
// arrives by itself.
func (c *Executor) readMissedMail(ctx context.Context) {
	boxes := append(c.running.cancelBoxes(), c.multiRound.answerBoxes()...)
	if len(boxes) == 0 {
		return
	}
	var posted []string
	err := c.o.Store.RetryStarted(ctx, func(ctx context.Context) (err error) {
		posted, err = c.o.Store.System().Calls().ListNonemptyMailboxes(ctx, boxes)
		return err
	})
	if err != nil {
		c.o.Log.WarnContext(ctx, "mail for calls not read", "error", err)
		return
	}
	for _, box := range posted {
		c.running.handleCancelMail(box)
		c.multiRound.handleAnswerMail(box)
	}
}

// answerBoxes are the mailboxes for the clients' responses.
func (mr *multiRoundCalls) answerBoxes() []string {
	mr.mu.Lock()
	defer mr.mu.Unlock()
	boxes := make([]string, 0, len(mr.byID))
	for id := range mr.byID {
		boxes = append(boxes, answerMailboxPrefix+id.String())
	}
	return boxes
}
