package auditstreams

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

const ocsfVersion = "1.3.0"

// class is an event class of OCSF.
type class struct {
	uid, category      int
	name, categoryName string
}

var (
	classBase           = class{0, 0, "Base Event", "Uncategorized"}
	classAccountChange  = class{3001, 3, "Account Change", "Identity & Access Management"}
	classAuthentication = class{3002, 3, "Authentication", "Identity & Access Management"}
	classEntity         = class{3004, 3, "Entity Management", "Identity & Access Management"}
	classAPI            = class{6003, 6, "API Activity", "Application Activity"}
)

// Values of attributes with numbers.
const (
	activityOther = 99

	severityInformational = 1
	severityMedium        = 3
	severityHigh          = 4

	statusSuccess = 1
	statusFailure = 2

	userTypeUser   = 1
	userTypeSystem = 3
	userTypeOther  = 99
)

var severityNames = map[int]string{severityInformational: "Informational", severityMedium: "Medium", severityHigh: "High"}

var statusNames = map[int]string{statusSuccess: "Success", statusFailure: "Failure"}

// activity is what an event reports of its class.
type activity struct {
	id   int
	name string
}

// event is an OCSF event. Attributes are those of its class.
type event struct {
	ActivityID   int            `json:"activity_id"`
	ActivityName string         `json:"activity_name"`
	CategoryUID  int            `json:"category_uid"`
	CategoryName string         `json:"category_name"`
	ClassUID     int            `json:"class_uid"`
	ClassName    string         `json:"class_name"`
	TypeUID      int            `json:"type_uid"`
	TypeName     string         `json:"type_name"`
	Time         int64          `json:"time"` // in milliseconds
	SeverityID   int            `json:"severity_id"`
	Severity     string         `json:"severity"`
	StatusID     int            `json:"status_id,omitempty"`
	Status       string         `json:"status,omitempty"`
	StatusCode   string         `json:"status_code,omitempty"`
	StatusDetail string         `json:"status_detail,omitempty"`
	Message      string         `json:"message"`
	Duration     *int64         `json:"duration,omitempty"` // in milliseconds
	StartTime    int64          `json:"start_time,omitempty"`
	EndTime      int64          `json:"end_time,omitempty"`
	Metadata     metadata       `json:"metadata"`
	Actor        *actor         `json:"actor,omitempty"`
	SrcEndpoint  *endpoint      `json:"src_endpoint,omitempty"`
	DstEndpoint  *endpoint      `json:"dst_endpoint,omitempty"`
	Service      *named         `json:"service,omitempty"`
	User         *user          `json:"user,omitempty"`
	Entity       *entity        `json:"entity,omitempty"`
	API          *apiCall       `json:"api,omitempty"`
	Resources    []resource     `json:"resources,omitempty"`
	Unmapped     map[string]any `json:"unmapped"`
}

type metadata struct {
	Version        string  `json:"version"`
	Product        product `json:"product"`
	UID            string  `json:"uid"`
	Sequence       int64   `json:"sequence,omitempty"`
	LogName        string  `json:"log_name"`
	LogProvider    string  `json:"log_provider"`
	LoggedTime     int64   `json:"logged_time,omitempty"`
	CorrelationUID string  `json:"correlation_uid,omitempty"`
	TenantUID      string  `json:"tenant_uid"`
}

type product struct {
	Name       string `json:"name"`
	VendorName string `json:"vendor_name"`
	Version    string `json:"version,omitempty"`
}

type actor struct {
	User    *user  `json:"user,omitempty"`
	AppName string `json:"app_name,omitempty"`
}

type user struct {
	Name   string `json:"name,omitempty"`
	UID    string `json:"uid,omitempty"`
	TypeID int    `json:"type_id,omitempty"`
	Type   string `json:"type,omitempty"`
}

type endpoint struct {
	IP   string `json:"ip,omitempty"`
	Name string `json:"name,omitempty"`
}

type named struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

type entity struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type apiCall struct {
	Operation string       `json:"operation"`
	Service   *named       `json:"service,omitempty"`
	Request   *apiRequest  `json:"request,omitempty"`
	Response  *apiResponse `json:"response,omitempty"`
}

type apiRequest struct {
	UID string `json:"uid"`
}

type apiResponse struct {
	Error string `json:"error"`
}

type resource struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// chainPlace is a record's place in its chain.
type chainPlace struct {
	Name         string `json:"name"`
	N            int64  `json:"n"`
	Index        int64  `json:"index"`
	Of           int64  `json:"of"`
	Hash         string `json:"hash"`
	PreviousHash string `json:"previous_hash,omitempty"`
}

// mapper makes events of one tenant.
type mapper struct {
	tenant  connectors.TenantID
	version string // of Patchbay
	now     func() time.Time
}

// newEvent maps a record.
func (m mapper) newEvent(r store.StreamRecord) event {
	switch {
	case r.Event != nil:
		return m.newAuditEvent(r)
	case r.Call != nil:
		return m.newCallEvent(r)
	case r.Removed != nil:
		return m.newRemovalEvent(r)
	default:
		return m.newGapEvent(r)
	}
}

// marshalRecord returns the JSON of a record's event.
func (m mapper) marshalRecord(r store.StreamRecord) (event, []byte, error) {
	e := m.newEvent(r)
	b, err := encodeEvent(e)
	return e, b, err
}

// recordUID names a record of a chain among those of all tenants and installations.
func (m mapper) recordUID(r store.StreamRecord) string {
	return fmt.Sprintf("%s-%s-%d", m.tenant, r.Chain, r.Sequence)
}

func encodeEvent(e event) ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode record %d of %s: %w", e.Metadata.Sequence, e.Metadata.LogName, err)
	}
	return b, nil
}

// baseEvent sets what all events have. own holds what OCSF has no attribute for.
func (m mapper) baseEvent(c class, a activity, at time.Time, r store.StreamRecord, own map[string]any) event {
	e := event{
		ActivityID: a.id, ActivityName: a.name, CategoryUID: c.category, CategoryName: c.categoryName, ClassUID: c.uid, ClassName: c.name,
		TypeUID: c.uid*100 + a.id, TypeName: c.name + ": " + a.name, Time: at.UnixMilli(),
		Metadata: metadata{
			Version: ocsfVersion, Product: product{Name: "Patchbay", VendorName: "Patchbay", Version: m.version}, Sequence: r.Sequence,
			LogName: r.Chain, LogProvider: "patchbay", TenantUID: m.tenant.String(),
		},
		Unmapped: map[string]any{"patchbay": own},
	}
	if !r.Link.At.IsZero() {
		e.Metadata.LoggedTime = r.Link.At.UnixMilli()
	}
	if r.Link.N > 0 {
		own["chain"] = chainPlace{
			Name: r.Chain, N: r.Link.N, Index: r.Link.Index, Of: r.Link.Records, Hash: hex.EncodeToString(r.Link.Hash), PreviousHash: hex.EncodeToString(r.Link.Previous),
		}
	}
	e.setSeverity(severityInformational)
	return e
}

func (e *event) setSeverity(id int) { e.SeverityID, e.Severity = id, severityNames[id] }

func (e *event) setStatus(id int) { e.StatusID, e.Status = id, statusNames[id] }

// newEndpoint returns the source of a request; it is never empty.
func newEndpoint(ip, name string) *endpoint {
	e := &endpoint{Name: name}
	if addr, err := netip.ParseAddr(ip); err == nil {
		e.IP = addr.String()
	}
	if e.IP == "" && e.Name == "" {
		e.Name = "unknown"
	}
	return e
}

// newGapEvent reports records that were removed before their delivery.
func (m mapper) newGapEvent(r store.StreamRecord) event {
	own := map[string]any{"gap": map[string]any{"chain": r.Chain, "from": r.Gap.From, "to": r.Gap.To}}
	e := m.baseEvent(classBase, activity{activityOther, "Gap"}, m.now(), r, own)
	e.Metadata.UID = fmt.Sprintf("%s-%s-gap-%d-%d", m.tenant, r.Chain, r.Gap.From, r.Gap.To)
	e.setSeverity(severityHigh)
	e.Message = describeGap(r)
	return e
}

// describeGap describes a gap to people; empty: the record is none.
func describeGap(r store.StreamRecord) string {
	if r.Gap == nil {
		return ""
	}
	return fmt.Sprintf("Records %d to %d of %s were removed before their delivery.", r.Gap.From, r.Gap.To, r.Chain)
}

// newRemovalEvent reports that retention removed calls from the history.
func (m mapper) newRemovalEvent(r store.StreamRecord) event {
	own := map[string]any{"kind": "removed", "calls": r.Removed.Calls, "last_call_id": r.Removed.Last.String()}
	e := m.baseEvent(classEntity, activity{4, "Delete"}, r.Link.At, r, own)
	e.Metadata.UID = m.recordUID(r)
	e.Entity = &entity{Name: "call history", Type: "history"}
	e.Actor = &actor{User: &user{Name: "Patchbay", TypeID: userTypeSystem, Type: "System"}}
	e.setStatus(statusSuccess)
	e.Message = fmt.Sprintf("Retention removed %d calls from the history.", r.Removed.Calls)
	return e
}
