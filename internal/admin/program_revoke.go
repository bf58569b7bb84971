package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
)

// ownProgramRevoke ends the access of a program that the person let in.
func (h *Handler) ownProgramRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := programID(r, "id")
	if err != nil {
		return err
	}
	if err := h.programs.End(r.Context(), actor(r), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/account#programs", respond.Flash{Kind: respond.Notice, Text: programEnded(r.Context())})
}

// programRevoke ends the access of a program that is an agent, whoever let it in.
func (h *Handler) programRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := programID(r, "program")
	if err != nil {
		return err
	}
	if err := h.programs.EndOf(r.Context(), actor(r), ref(r, "id"), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(string(ref(r, "id")))+"/connect#programs", respond.Flash{Kind: respond.Notice, Text: programEnded(r.Context())})
}

// memberProgramRevoke ends the access of a program that acts as a member.
func (h *Handler) memberProgramRevoke(w http.ResponseWriter, r *http.Request) error {
	user, err := userID(r)
	if err != nil {
		return err
	}
	id, err := programID(r, "program")
	if err != nil {
		return err
	}
	if err := h.programs.EndAsMember(r.Context(), actor(r), user, id); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/members#programs", respond.Flash{Kind: respond.Notice, Text: programEnded(r.Context())})
}

func programID(r *http.Request, param string) (connectors.AgentClientID, error) {
	id, ok := ref(r, param).UUID()
	if !ok {
		return connectors.AgentClientID{}, fault.Errorf(fault.NotFound, "There is no such client.")
	}
	return connectors.AgentClientID{UUID: id}, nil
}
