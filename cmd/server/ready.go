package main

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// readyTimeout is how long the database may take to answer before it counts as gone.
const readyTimeout = 2 * time.Second

// health says that the process answers. It asks nothing else: a restart mends no database.
func health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// ready says whether requests can be served: the database answers, and its schema is not older than this program's.
func ready(pool *pgxpool.Pool, st *store.Store) respond.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := st.Ready(ctx); err != nil {
			return fault.Wrap(fault.Unavailable, err, "The database does not answer.")
		}
		applied, wanted, err := db.Current(ctx, pool)
		if err != nil {
			return err
		}
		if applied < wanted {
			return fault.Errorf(fault.Unavailable, "The schema has version %d, and this program wants %d. Run patchbay migrate.", applied, wanted)
		}
		w.Header().Set("Content-Type", "application/json")
		_, err = w.Write([]byte(`{"status":"ready"}` + "\n"))
		return err
	}
}
