package store

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// callHead holds the values that many calls of a batch share. A statement carries each head once; calls refer
// to it by number.
type callHead struct {
	tenant, agent, connector, token, credential, instance uuid.UUID

	agentSlug, connectorSlug, tool, exposed, caller  string
	kind, source, status, outcome, code, message, by string
	structuredValid, structuredError                 string

	address            netip.Addr
	definition         connectors.Hash
	isError, truncated bool
	packed             bool // results are packed
}

func toCallHead(c *OwnedCall) callHead {
	return callHead{
		tenant: c.Tenant.UUID, agent: orZero(c.AgentID).UUID, connector: orZero(c.ConnectorID).UUID, token: orZero(c.TokenID).UUID,
		credential: orZero(c.CredentialID).UUID, instance: orZero(c.InstanceID).UUID,
		agentSlug: c.AgentSlug, connectorSlug: c.ConnectorSlug, tool: c.Tool, exposed: c.ExposedName, caller: c.Caller,
		kind: string(c.Kind), source: string(c.Source), status: string(c.Status), outcome: string(c.Outcome), code: c.ErrorCode,
		message: c.ErrorMessage, by: c.ApprovedBy, address: c.Address,
		structuredValid: formatVerdict(c.StructuredValid), structuredError: c.StructuredError,
		definition: orZero(c.Definition), isError: c.IsError, truncated: c.Truncated,
	}
}

// formatVerdict formats a nullable boolean for an array of a statement: its elements cannot be null.
func formatVerdict(valid *bool) string {
	if valid == nil {
		return ""
	}
	return strconv.FormatBool(*valid)
}

// toEndParams converts calls into the columns of one statement.
func toEndParams(calls []OwnedCall) dbgen.EndCallsParams {
	p := dbgen.EndCallsParams{Nobody: uuid.Nil}
	n := len(calls)
	reserveColumns(n, &p.Heads, &p.RequestBytes, &p.ResponseBytes, &p.DurationsUs)
	reserveColumns(n, &p.Ids)
	reserveColumns(n, &p.Arguments, &p.Results, &p.Structureds, &p.Tasks, &p.Upstreams)
	reserveColumns(n, &p.StartedAts, &p.CompletedAts)
	reserveColumns(n, &p.RequestIds)
	heads, results := headNumbers{}, packer{}
	for i := range calls {
		head, result := toCallHead(&calls[i]), results.packResult(calls[i].Content, calls[i].Structured)
		head.packed = result != nil
		number, known := heads.numberFor(&head)
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

// headNumbers numbers the heads of a batch. Consecutive calls mostly share one.
type headNumbers struct {
	known      map[callHead]int64
	last       callHead
	lastNumber int64
}

// numberFor returns the number of a head and whether it was known.
func (n *headNumbers) numberFor(head *callHead) (number int64, known bool) {
	if n.known == nil {
		n.known = map[callHead]int64{}
	} else if *head == n.last {
		return n.lastNumber, true
	}
	number, known = n.known[*head]
	if !known {
		number = int64(len(n.known))
		n.known[*head] = number
	}
	n.last, n.lastNumber = *head, number
	return number, known
}

// reserveColumns allocates columns of capacity n.
func reserveColumns[T any](n int, columns ...*[]T) {
	for _, c := range columns {
		*c = make([]T, 0, n)
	}
}

func addHead(p *dbgen.EndCallsParams, number int64, c *OwnedCall) {
	p.Numbers = append(p.Numbers, number)
	p.TenantIds = append(p.TenantIds, c.Tenant.UUID)
	p.AgentIds = append(p.AgentIds, orZero(c.AgentID).UUID)
	p.AgentSlugs = append(p.AgentSlugs, c.AgentSlug)
	p.ConnectorIds = append(p.ConnectorIds, orZero(c.ConnectorID).UUID)
	p.ConnectorSlugs = append(p.ConnectorSlugs, c.ConnectorSlug)
	p.Kinds = append(p.Kinds, string(c.Kind))
	p.Tools = append(p.Tools, cleanText(c.Tool))
	p.ExposedNames = append(p.ExposedNames, cleanText(c.ExposedName))
	p.Sources = append(p.Sources, string(c.Source))
	p.Callers = append(p.Callers, cleanText(c.Caller))
	p.TokenIds = append(p.TokenIds, orZero(c.TokenID).UUID)
	p.CredentialIds = append(p.CredentialIds, orZero(c.CredentialID).UUID)
	p.DefinitionHashes = append(p.DefinitionHashes, hashBytes(c.Definition))
	p.InstanceIds = append(p.InstanceIds, orZero(c.InstanceID).UUID)
	p.Statuses = append(p.Statuses, string(c.Status))
	p.Outcomes = append(p.Outcomes, string(c.Outcome))
	p.ErrorCodes = append(p.ErrorCodes, c.ErrorCode)
	p.ErrorMessages = append(p.ErrorMessages, cleanText(c.ErrorMessage))
	p.IsErrors = append(p.IsErrors, c.IsError)
	p.StructuredValids = append(p.StructuredValids, formatVerdict(c.StructuredValid))
	p.StructuredErrors = append(p.StructuredErrors, cleanText(c.StructuredError))
	p.ApprovedBys = append(p.ApprovedBys, cleanText(c.ApprovedBy))
	p.Truncateds = append(p.Truncateds, c.Truncated)
	p.Addresses = append(p.Addresses, cleanText(c.From()))
}

func addCall(p *dbgen.EndCallsParams, head int64, c *OwnedCall) {
	p.Heads = append(p.Heads, head)
	p.Ids = append(p.Ids, c.ID.UUID)
	p.RequestIds = append(p.RequestIds, cleanText(c.RequestID))
	p.Arguments = append(p.Arguments, c.Arguments)
	p.Tasks, p.Upstreams = append(p.Tasks, c.Task), append(p.Upstreams, encodeUpstream(c.Upstream))
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
