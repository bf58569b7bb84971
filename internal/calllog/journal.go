package calllog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// A journal is a memory-mapped file of fixed slots. Its contents survive the process, but not the machine. A
// call has a slot from its beginning until it is stored. If that is before its account is known, it has one again until
// its end is stored. So a killed process leaves behind its calls in progress and those that had just ended. Slots hold
// names and ids, neither arguments nor results.
const (
	slotSize  = 2 << 10
	slotCount = 8 << 10 // calls of the last 100 ms and some reserve; further ones get no slot
	maxName   = 200     // of a tool, in bytes; other names are shorter

	// accountOffset is past all names. Previous releases left it empty.
	accountOffset = 1536
	// originOffset is past everything that the previous release wrote.
	originOffset = 1600

	journalPrefix = "calls-"
	// unlockedPrefix names a journal until it is locked, so that other processes do not take it for a dead
	// process's.
	unlockedPrefix = "new-calls-"
)

// journal is the open journal of this process. Writer.mu guards it.
type journal struct {
	path   string
	file   *os.File
	memory []byte
	free   []int32
}

// openJournal creates the journal of a process, and its directory; nil if dir is empty.
func openJournal(dir string, id connectors.InstanceID) (*journal, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // a process without a journal works
	}
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // the embedded PostgreSQL's user has its folder in there
		return nil, err
	}
	path, unlocked := filepath.Join(dir, journalPrefix+id.String()), filepath.Join(dir, unlockedPrefix+id.String())
	file, err := os.OpenFile(unlocked, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, file: file}
	err = allocateFile(file, slotSize*slotCount)
	if err == nil {
		err = lockFile(file)
	}
	if err == nil {
		j.memory, err = mapFile(file, slotSize*slotCount)
	}
	if err == nil {
		err = os.Rename(unlocked, path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(unlocked))
	}
	for i := range slotCount {
		j.free = append(j.free, int32(slotCount-1-i))
	}
	return j, nil
}

// writeCall writes a call into a slot; -1: none is free.
func (j *journal) writeCall(t connectors.TenantID, c *connectors.ToolCall) int32 {
	if j == nil || len(j.free) == 0 {
		return -1
	}
	slot := j.free[len(j.free)-1]
	j.free = j.free[:len(j.free)-1]
	b := j.memory[int(slot)*slotSize:][:slotSize]
	writeSlot(b[1:1], t, c)
	writeAccount(b, c.CredentialID)
	writeOrigin(b, c.CallOrigin)
	b[0] = 1 // last, so that a half-written slot is empty
	return slot
}

// setAccount writes the account of a call that has a slot.
func (j *journal) setAccount(slot int32, id *connectors.CredentialID) {
	if j != nil && slot >= 0 {
		writeAccount(j.memory[int(slot)*slotSize:][:slotSize], id)
	}
}

func (j *journal) freeSlot(slot int32) {
	if slot < 0 {
		return
	}
	j.memory[int(slot)*slotSize] = 0
	j.free = append(j.free, slot)
}

// close closes the journal and, if all calls are stored, removes it.
func (j *journal) close(remove bool) error {
	if j == nil {
		return nil
	}
	var err error
	if remove {
		err = os.Remove(j.path)
	}
	return errors.Join(err, unmapFile(j.memory), j.file.Close())
}

func writeSlot(b []byte, t connectors.TenantID, c *connectors.ToolCall) {
	for _, id := range []uuid.UUID{t.UUID, c.ID.UUID, toUUID(c.AgentID), toUUID(c.ConnectorID), toUUID(c.TokenID), toUUID(c.InstanceID)} {
		b = append(b, id[:]...)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(c.StartedAt.UnixMicro()))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.RequestBytes))
	for _, s := range []string{c.AgentSlug, c.ConnectorSlug, string(c.Kind), string(c.Source), c.Tool, c.ExposedName, c.Caller} {
		s = s[:min(len(s), maxName)]
		b = append(append(b, byte(len(s))), s...)
	}
}

// writeAccount writes the account of a call into its slot; nil: none yet.
func writeAccount(slot []byte, id *connectors.CredentialID) {
	account := toUUID(id)
	copy(slot[accountOffset:], account[:])
}

func readAccount(slot []byte) *connectors.CredentialID {
	account := uuid.UUID(slot[accountOffset:][:16])
	if account == uuid.Nil {
		return nil
	}
	return &connectors.CredentialID{UUID: account}
}

// writeOrigin writes the origin of a call into its slot.
func writeOrigin(slot []byte, o connectors.CallOrigin) {
	b := slot[originOffset:originOffset]
	for _, s := range []string{o.From(), o.RequestID} {
		s = s[:min(len(s), maxName)]
		b = append(append(b, byte(len(s))), s...)
	}
}

func readOrigin(slot []byte) connectors.CallOrigin {
	b := slot[originOffset:]
	var texts [2]string
	for i := range texts {
		n := min(int(b[0]), maxName)
		texts[i], b = string(b[1:1+n]), b[1+n:]
	}
	return connectors.CallOriginOf(texts[0], texts[1])
}

// toUUID returns uuid.Nil for nil.
func toUUID[T ~struct{ uuid.UUID }](id *T) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return struct{ uuid.UUID }(*id).UUID
}

// readSlot returns the call of a slot; ok is false if it is empty or malformed.
func readSlot(b []byte) (c store.OwnedCall, ok bool) {
	if b[0] != 1 {
		return c, false
	}
	c.CredentialID, c.CallOrigin = readAccount(b), readOrigin(b)
	b = b[1:]
	var ids [6]uuid.UUID
	for i := range ids {
		b = b[copy(ids[i][:], b):]
	}
	c.Tenant, c.ID = connectors.TenantID{UUID: ids[0]}, connectors.ToolCallID{UUID: ids[1]}
	c.AgentID, c.ConnectorID = &connectors.AgentID{UUID: ids[2]}, &connectors.ConnectorID{UUID: ids[3]}
	c.TokenID, c.InstanceID = &connectors.AgentTokenID{UUID: ids[4]}, &connectors.InstanceID{UUID: ids[5]}
	c.StartedAt = time.UnixMicro(int64(binary.LittleEndian.Uint64(b))).UTC()
	c.RequestBytes = int64(binary.LittleEndian.Uint64(b[8:]))
	b = b[16:]
	var texts [7]string
	for i := range texts {
		n := int(b[0])
		if n > len(b)-1 {
			return c, false
		}
		texts[i], b = strings.ToValidUTF8(string(b[1:1+n]), ""), b[1+n:] // a long text may be cut within a character
	}
	c.AgentSlug, c.ConnectorSlug, c.Kind, c.Source = texts[0], texts[1], connectors.CallKind(texts[2]), connectors.CallSource(texts[3])
	c.Tool, c.ExposedName, c.Caller = texts[4], texts[5], texts[6]
	return c, true
}

// readLostCalls reads the journal of a dead process. A live process holds the lock of its journal, which is an
// error here.
func readLostCalls(path string, now time.Time) (calls []store.OwnedCall, _ error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := lockFile(file); err != nil {
		return nil, fmt.Errorf("its process lives: %w", err)
	}
	slot := make([]byte, slotSize)
	for i := range int64(slotCount) {
		if n, _ := file.ReadAt(slot, i*slotSize); n < slotSize {
			break
		}
		if c, ok := readSlot(slot); ok {
			c.Status, c.Outcome, c.CompletedAt = connectors.CallError, connectors.OutcomeLost, &now
			c.ErrorCode, c.ErrorMessage = "interrupted", "Patchbay stopped during this call. The tool may have run."
			c.Duration = max(0, now.Sub(c.StartedAt))
			calls = append(calls, c)
		}
	}
	return calls, nil
}
