package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
)

// ownProgramRevoke revokes a program that the person authorized.
func (h *Handler) ownProgramRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := programID(r, "id")
	if err != nil {
		return err
	}
	if err := h.AuthServer.End(r.Context(), shell.Actor(r), id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/account#programs", respond.Flash{Kind: respond.Notice, Text: programEndedText(r.Context())})
}

// clientRevoke revokes a program that acts as an agent, whichever member authorized it.
func (h *Handler) clientRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := programID(r, "program")
	if err != nil {
		return err
	}
	if err := h.AuthServer.EndAsAgent(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id")))+"/connect#programs", respond.Flash{Kind: respond.Notice, Text: programEndedText(r.Context())})
}

// memberProgramRevoke revokes a program that acts as a member.
func (h *Handler) memberProgramRevoke(w http.ResponseWriter, r *http.Request) error {
	user, err := userID(r)
	if err != nil {
		return err
	}
	id, err := programID(r, "program")
	if err != nil {
		return err
	}
	if err := h.AuthServer.EndAsMember(r.Context(), shell.Actor(r), user, id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/members#programs", respond.Flash{Kind: respond.Notice, Text: programEndedText(r.Context())})
}

func programID(r *http.Request, param string) (connectors.AgentClientID, error) {
	id, ok := shell.PathRef(r, param).UUID()
	if !ok {
		return connectors.AgentClientID{}, fault.Errorf(fault.NotFound, "No such client.")
	}
	return connectors.AgentClientID{UUID: id}, nil
}
