package ctl

import (
	"context"
	"errors"
	"time"

	"patchbay/client"
)

type accessCommands struct {
	List     accessList     `cmd:"" help:"List requests for access, newest first."`
	Get      accessGet      `cmd:"" help:"Show a request as JSON, for admins with what a decision rests on."`
	Ask      accessAsk      `cmd:"" help:"Ask for an agent's access to a connector: all its tools, or some."`
	Accept   accessAccept   `cmd:"" help:"Accept a request: the agent's grant is widened up to the end."`
	Refuse   accessRefuse   `cmd:"" help:"Refuse a request."`
	Withdraw accessWithdraw `cmd:"" help:"Withdraw your open request."`
}

// endFlags choose when access ends.
type endFlags struct {
	Until *time.Time    `placeholder:"TIME" xor:"end" help:"When access ends, such as 2027-01-31T18:00:00Z."`
	For   time.Duration `placeholder:"DURATION" xor:"end" help:"Access ends after this long, such as 168h."`
}

// chosenEnd returns the chosen end; nil: none was chosen.
func (f endFlags) chosenEnd() (*time.Time, error) {
	switch {
	case f.For < 0:
		return nil, errors.New("the duration must be positive")
	case f.For > 0:
		return new(time.Now().Add(f.For)), nil
	}
	return f.Until, nil
}

type accessList struct {
	State string `enum:"open,accepted,refused,withdrawn,any" default:"open" help:"open, accepted, refused, withdrawn or any (${default})."`
}

// Run prints a row for each request.
func (c accessList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	q := client.ListAccessRequestsQuery{State: c.State, Limit: pageSize}
	if c.State == "any" {
		q.State = ""
	}
	list, err := collectPages(api.AllAccessRequests(ctx, q))
	if err != nil {
		return err
	}
	t := newTable("ID", "ASKED", "BY", "AGENT", "CONNECTOR", "TOOLS", "UNTIL", "STATE", "REASON")
	for _, r := range list {
		t.addRow(r.ID, r.AskedAt, r.AskedBy, r.Agent, r.Connector, toolNames(r.Tools), r.Until, r.State, shorten(r.Reason))
	}
	return s.printValue(list, t)
}

func toolNames(tools client.ToolSet) []string {
	if tools.All {
		return []string{"all"}
	}
	return tools.Names
}

type accessAsk struct {
	agentRef
	Connector string   `arg:"" help:"The connector's slug or id."`
	All       bool     `help:"All tools, including those of later syncs."`
	Tools     []string `placeholder:"TOOL" help:"Only these tools, by their server's names."`
	Reason    string   `required:"" placeholder:"TEXT" help:"Why, for the admin who decides."`
	endFlags
}

// Run sends the request, and prints its id.
func (c accessAsk) Run(ctx context.Context, s *session) error {
	if c.All == (len(c.Tools) > 0) {
		return errors.New("use --all or --tools")
	}
	until, err := c.chosenEnd()
	if err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	asked, err := api.AskAccess(ctx, client.AccessRequestCreate{
		Agent: c.Agent, Connector: c.Connector, Tools: client.ToolSet{All: c.All, Names: c.Tools}, Reason: c.Reason, Until: until,
	})
	if err != nil {
		return err
	}
	return s.printSentence(asked, "%s", asked.ID)
}

type requestRef struct {
	ID string `arg:"" help:"The request's id."`
}

type accessGet struct{ requestRef }

// Run prints the request as JSON.
func (c accessGet) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	review, err := api.GetAccessRequest(ctx, c.ID)
	if err != nil {
		return err
	}
	return s.printJSON(review)
}

type accessAccept struct {
	requestRef
	endFlags
	NoEnd bool   `xor:"end" help:"No end instead of the wanted one."`
	Note  string `placeholder:"TEXT" help:"A note for the asker."`
}

// Run accepts the request, with the wanted end unless another is chosen.
func (c accessAccept) Run(ctx context.Context, s *session) error {
	until, err := c.chosenEnd()
	if err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	in := client.AccessRequestAccept{Until: until, Note: &c.Note}
	if c.NoEnd {
		in.NoEnd = &c.NoEnd
	}
	decided, err := api.AcceptAccess(ctx, c.ID, in)
	if err != nil {
		return err
	}
	return s.printSentence(decided, "Accepted. %s can use %s.", decided.Agent, decided.Connector)
}

type accessRefuse struct {
	requestRef
	Note string `placeholder:"TEXT" help:"A note for the asker."`
}

// Run refuses the request.
func (c accessRefuse) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	decided, err := api.RefuseAccess(ctx, c.ID, client.AccessRequestRefuse{Note: &c.Note})
	if err != nil {
		return err
	}
	return s.printSentence(decided, "Refused: %s, %s.", decided.Agent, decided.Connector)
}

type accessWithdraw struct{ requestRef }

// Run withdraws the request.
func (c accessWithdraw) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.WithdrawAccessRequest(ctx, c.ID); err != nil {
		return err
	}
	return s.printSentence(nil, "Withdrew %s.", c.ID)
}
