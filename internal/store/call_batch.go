package store

import (
	"net/netip"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// callHead is what the calls of a batch mostly have in common. One statement brings each once, and its calls name it by number.
type callHead struct {
	tenant, agent, connector, token, credential, instance uuid.UUID

	agentSlug, connectorSlug, tool, exposed, caller  string
	kind, source, status, outcome, code, message, by string

	address            netip.Addr
	definition         connectors.Hash
	isError, truncated bool
	packed             bool // the results of its calls
}

func headOf(c *OwnedCall) callHead {
	return callHead{
		tenant: c.Tenant.UUID, agent: idOr(c.AgentID).UUID, connector: idOr(c.ConnectorID).UUID, token: idOr(c.TokenID).UUID,
		credential: idOr(c.CredentialID).UUID, instance: idOr(c.InstanceID).UUID,
		agentSlug: c.AgentSlug, connectorSlug: c.ConnectorSlug, tool: c.Tool, exposed: c.ExposedName, caller: c.Caller,
		kind: string(c.Kind), source: string(c.Source), status: string(c.Status), outcome: string(c.Outcome), code: c.ErrorCode,
		message: c.ErrorMessage, by: c.ApprovedBy, address: c.Address,
		definition: idOr(c.Definition), isError: c.IsError, truncated: c.Truncated,
	}
}

// columnsOf turns calls into the columns that one statement takes.
func columnsOf(calls []OwnedCall) dbgen.EndCallsParams {
	p := dbgen.EndCallsParams{Nobody: uuid.Nil}
	n := len(calls)
	room(n, &p.Heads, &p.RequestBytes, &p.ResponseBytes, &p.DurationsUs)
	room(n, &p.Ids)
	room(n, &p.Arguments, &p.Results, &p.Structureds, &p.Tasks)
	room(n, &p.StartedAts, &p.CompletedAts)
	room(n, &p.RequestIds)
	heads, results := headNumbers{}, packer{}
	for i := range calls {
		head, result := headOf(&calls[i]), results.pack(calls[i].Content, calls[i].Structured)
		head.packed = result != nil
		number, known := heads.of(&head)
		if !known {
			addHead(&p, number, &calls[i])
			p.Packeds = append(p.Packeds, head.packed)
		}
		addCall(&p, number, &calls[i])
		if head.packed {
			p.Results, p.Structureds = append(p.Results, result), append(p.Structureds, nil)
		} else {
			p.Results, p.Structureds = append(p.Results, calls[i].Content), append(p.Structureds, calls[i].Structured)
		}
	}
	return p
}

// headNumbers are the heads of a batch. Mostly a call has that of the one before.
type headNumbers struct {
	known map[callHead]int64
	last  callHead
	at    int64
}

// of is the number of a head, and whether it had one before.
func (n *headNumbers) of(head *callHead) (number int64, known bool) {
	if n.known == nil {
		n.known = map[callHead]int64{}
	} else if *head == n.last {
		return n.at, true
	}
	number, known = n.known[*head]
	if !known {
		number = int64(len(n.known))
		n.known[*head] = number
	}
	n.last, n.at = *head, number
	return number, known
}

// room makes columns that take so many values.
func room[T any](n int, columns ...*[]T) {
	for _, c := range columns {
		*c = make([]T, 0, n)
	}
}

func addHead(p *dbgen.EndCallsParams, number int64, c *OwnedCall) {
	p.Numbers = append(p.Numbers, number)
	p.TenantIds = append(p.TenantIds, c.Tenant.UUID)
	p.AgentIds = append(p.AgentIds, idOr(c.AgentID).UUID)
	p.AgentSlugs = append(p.AgentSlugs, c.AgentSlug)
	p.ConnectorIds = append(p.ConnectorIds, idOr(c.ConnectorID).UUID)
	p.ConnectorSlugs = append(p.ConnectorSlugs, c.ConnectorSlug)
	p.Kinds = append(p.Kinds, string(c.Kind))
	p.Tools = append(p.Tools, clean(c.Tool))
	p.ExposedNames = append(p.ExposedNames, clean(c.ExposedName))
	p.Sources = append(p.Sources, string(c.Source))
	p.Callers = append(p.Callers, clean(c.Caller))
	p.TokenIds = append(p.TokenIds, idOr(c.TokenID).UUID)
	p.CredentialIds = append(p.CredentialIds, idOr(c.CredentialID).UUID)
	p.DefinitionHashes = append(p.DefinitionHashes, hashBytes(c.Definition))
	p.InstanceIds = append(p.InstanceIds, idOr(c.InstanceID).UUID)
	p.Statuses = append(p.Statuses, string(c.Status))
	p.Outcomes = append(p.Outcomes, string(c.Outcome))
	p.ErrorCodes = append(p.ErrorCodes, c.ErrorCode)
	p.ErrorMessages = append(p.ErrorMessages, clean(c.ErrorMessage))
	p.IsErrors = append(p.IsErrors, c.IsError)
	p.ApprovedBys = append(p.ApprovedBys, clean(c.ApprovedBy))
	p.Truncateds = append(p.Truncateds, c.Truncated)
	p.Addresses = append(p.Addresses, clean(c.From()))
}

func addCall(p *dbgen.EndCallsParams, head int64, c *OwnedCall) {
	p.Heads = append(p.Heads, head)
	p.Ids = append(p.Ids, c.ID.UUID)
	p.RequestIds = append(p.RequestIds, clean(c.RequestID))
	p.Arguments = append(p.Arguments, c.Arguments)
	p.Tasks = append(p.Tasks, c.Task)
	p.RequestBytes = append(p.RequestBytes, c.RequestBytes)
	p.ResponseBytes = append(p.ResponseBytes, c.ResponseBytes)
	p.StartedAts = append(p.StartedAts, c.StartedAt)
	var completed time.Time
	if c.CompletedAt != nil {
		completed = *c.CompletedAt
	}
	p.CompletedAts = append(p.CompletedAts, completed)
	p.DurationsUs = append(p.DurationsUs, c.Duration.Microseconds())
}
