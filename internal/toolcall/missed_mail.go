package toolcall

import (
	"context"
	"slices"
)

// mailReader handles the messages of other processes about calls of this one.
type mailReader struct {
	o          *Options
	running    *runningCalls
	multiRound *multiRoundCalls
	questions  *taskQuestions
}

// handleMail handles the mail in a box: a person cancelled the call, or a client answered it.
func (mr *mailReader) handleMail(box string) {
	mr.running.handleCancelMail(box)
	mr.multiRound.handleAnswerMail(box)
	mr.questions.handleResponseMail(box)
}

// readMissedMail handles mail for calls of this process that came without a notice. A notice of later mail
// arrives by itself.
func (mr *mailReader) readMissedMail(ctx context.Context) {
	boxes := slices.Concat(mr.running.cancelBoxes(), mr.multiRound.answerBoxes(), mr.questions.responseBoxes())
	if len(boxes) == 0 {
		return
	}
	var posted []string
	err := mr.o.Store.RetryStarted(ctx, func(ctx context.Context) (err error) {
		posted, err = mr.o.Store.System().Calls().ListNonemptyMailboxes(ctx, boxes)
		return err
	})
	if err != nil {
		mr.o.Log.WarnContext(ctx, "messages for calls not read", "error", err)
		return
	}
	for _, box := range posted {
		mr.handleMail(box)
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
