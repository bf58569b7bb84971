package people

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/store"
)

// sessionColumns are the columns of a person's own sessions.
func sessionColumns(current connectors.SessionID) []export.Column[connectors.Session] {
	return []export.Column[connectors.Session]{
		{Name: "id", Of: func(s connectors.Session) any { return s.ID.String() }},
		{Name: "user_agent", Of: func(s connectors.Session) any { return s.UserAgent }},
		{Name: "address", Of: func(s connectors.Session) any { return s.Address }},
		{Name: "current", Of: func(s connectors.Session) any { return s.ID == current }},
		{Name: "second_factor", Of: func(s connectors.Session) any { return s.SecondFactor }},
		{Name: "started_at", Of: func(s connectors.Session) any { return s.Began }},
		{Name: "last_used_at", Of: func(s connectors.Session) any { return s.Seen }},
	}
}

// sessionFile is the file of the person's own sessions, which the page shows whole.
func (h *Handler) sessionFile(w http.ResponseWriter, r *http.Request) error {
	person := shell.Actor(r)
	return shell.TableFile[connectors.Session]{Name: "sessions", Columns: sessionColumns(person.Session), List: func(ctx context.Context, _ store.Page) (store.List[connectors.Session], error) {
		sessions, err := h.Auth.ListSessions(ctx, person)
		return store.List[connectors.Session]{Items: sessions}, err
	}}.Serve(h.Shell, w, r)
}
