package history

import "context"

// Written waits until the calls that have ended so far are in the database, or ctx is done. They are written at once, in place of with
// the next batch.
func (w *Writer) Written(ctx context.Context) {
	defer context.AfterFunc(ctx, w.wakeAll)()
	w.mu.Lock()
	defer w.mu.Unlock()
	for all := w.written + w.waiting; w.written < all && ctx.Err() == nil; {
		poke(w.full)
		w.room.Wait()
	}
}

func (w *Writer) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room.Broadcast()
}
