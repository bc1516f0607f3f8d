package clicklog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/waymarkhq/waymark/internal/clock"
)

// A record is four bytes of length, four bytes of CRC-32C of what follows, both
// little-endian, and the event: numbers as varints, text as its length and
// bytes. Flags follow only if one is set, so records without flags keep the
// older format; flags that this version does not know have no meaning to it. A
// length of zero is never written, so that a run of zero bytes, which a power
// failure may leave, is no record.
const (
	headerSize = 8
	maxPayload = 64 << 10

	flagLimited  = 1
	flagUnstored = 2
)

var (
	errShort   = errors.New("record goes on past the end")
	errCorrupt = errors.New("corrupt record")

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// appendRecord adds the record of e to b.
func appendRecord(b []byte, e *Event) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, headerSize)...)
	b = binary.AppendUvarint(b, uint64(e.ID))
	b = binary.AppendVarint(b, int64(e.At))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Visitor))
	b = binary.AppendUvarint(b, uint64(e.Install))
	b = appendText(b, string(e.Type))
	for _, field := range texts(e) {
		b = appendText(b, *field)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Link.TagIDs)))
	for _, tag := range e.Link.TagIDs {
		b = appendText(b, tag)
	}
	var flags uint64
	if e.Limited {
		flags |= flagLimited
	}
	if e.Unstored {
		flags |= flagUnstored
	}
	if flags != 0 {
		b = binary.AppendUvarint(b, flags)
	}
	payload := b[start+headerSize:]
	if len(payload) > maxPayload {
		return b[:start], fmt.Errorf("event of %d bytes is larger than %d", len(payload), maxPayload)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(payload, castagnoli))
	return b, nil
}

// texts lists the plain text fields in the order of the record.
func texts(e *Event) [16]*string {
	l := &e.Link
	return [16]*string{
		&l.ID, &l.AppID, &l.Hostname, &l.Prefix, &l.Slug, &l.Group, &l.CampaignID, &l.FolderID,
		&e.Device, &e.OS, &e.Browser, &e.Source, &e.Country, &e.ReferrerHost, &e.RuleID, &e.Destination,
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodeRecord reads the record at the start of b into e and returns its
// size. The error is errShort when b ends before the record does, and
// errCorrupt when no record of ours has these bytes.
func decodeRecord(b []byte, e *Event) (size int, err error) {
	if len(b) < headerSize {
		return 0, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length == 0 || length > maxPayload {
		return 0, errCorrupt
	}
	size = headerSize + int(length)
	if len(b) < size {
		return 0, errShort
	}
	payload := b[headerSize:size]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0, errCorrupt
	}
	if !decodePayload(payload, e) {
		return 0, errCorrupt
	}
	return size, nil
}

// seekRecord returns where the next whole record starts in b, which begins with a
// damaged one. If b has none, one may start at the place returned, and go on past b.
func seekRecord(b []byte) (at int, found bool) {
	var e Event
	for at := 1; at < len(b); at++ {
		if _, err := decodeRecord(b[at:], &e); err == nil {
			return at, true
		}
	}
	return max(1, len(b)-(headerSize+maxPayload)+1), false
}

func decodePayload(payload []byte, e *Event) bool {
	// One copy for all the text of an event: its fields are parts of it.
	d := decoder{b: payload, text: string(payload)}
	*e = Event{ID: int64(d.uvarint()), At: clock.Instant(d.varint()), Visitor: d.fixed(), Install: int64(d.uvarint())}
	e.Type = EventType(d.string())
	for _, field := range texts(e) {
		*field = d.string()
	}
	// Each tag takes at least a byte, which bounds what a count may claim.
	if tags := d.uvarint(); tags > uint64(len(d.b)-d.at) {
		return false
	} else if tags > 0 {
		e.Link.TagIDs = make([]string, tags)
		for i := range e.Link.TagIDs {
			e.Link.TagIDs[i] = d.string()
		}
	}
	if !d.bad && d.at < len(d.b) {
		flags := d.uvarint()
		e.Limited, e.Unstored = flags&flagLimited != 0, flags&flagUnstored != 0
		d.bad = d.bad || flags == 0
	}
	return !d.bad && d.at == len(d.b)
}

// decoder reads values one after the other; once bad, it returns zeros.
type decoder struct {
	b    []byte
	text string
	at   int
	bad  bool
}

func (d *decoder) moved(n int) bool {
	if d.bad = d.bad || n <= 0 || n > len(d.b)-d.at; d.bad {
		return false
	}
	d.at += n
	return true
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.at:])
	if !d.moved(n) {
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b[d.at:])
	if !d.moved(n) {
		return 0
	}
	return v
}

func (d *decoder) fixed() int64 {
	if !d.moved(8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(d.b[d.at-8:]))
}

func (d *decoder) string() string {
	n := d.uvarint()
	if n == 0 {
		return ""
	}
	if n > uint64(len(d.b)-d.at) || !d.moved(int(n)) {
		d.bad = true
		return ""
	}
	return d.text[d.at-int(n) : d.at]
}
