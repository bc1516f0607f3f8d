package segment

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/parquet-go/bitpack"

	"github.com/waymarkhq/waymark/internal/clock"
)

// padding is how far bitpack may read beyond the end of its input.
const padding = bitpack.PaddingInt64

var errShortPage = fmt.Errorf("%w: a page has fewer values than it says", ErrDamaged)

// decodeCodes decodes the codes of a page, indexes into a dictionary of n values, into
// dst: their width, and then runs, which begin with twice their length, or, for eights
// of packed codes, twice their number plus one.
func decodeCodes(dst []int32, src []byte, n int) error {
	if len(src) == 0 || src[0] > 31 {
		return errShortPage
	}
	width := uint(src[0])
	src = src[1:]
	for len(dst) > 0 {
		head, size := binary.Uvarint(src)
		if size <= 0 || head < 2 || head>>1 > maxRows {
			return errShortPage
		}
		src = src[size:]
		packed, count, size := head&1 != 0, int(head>>1), bitpack.ByteCount(width)
		if packed {
			count, size = 8*count, count*int(width)
		}
		if size > len(src) {
			return errShortPage
		}
		run := dst[:min(count, len(dst))]
		highest := uint32(0)
		if packed {
			bitpack.Unpack(run, src, width)
			highest = maximum(run)
		} else {
			var value [4]byte
			copy(value[:], src[:size])
			highest = binary.LittleEndian.Uint32(value[:])
			fill(run, int32(highest))
		}
		if int64(highest) >= int64(n) {
			return fmt.Errorf("%w: code %d of %d values", ErrDamaged, highest, n)
		}
		dst, src = dst[len(run):], src[size:]
	}
	return nil
}

func fill(run []int32, value int32) {
	if value == 0 {
		clear(run) // twice as fast
		return
	}
	for i := range run {
		run[i] = value
	}
}

// maximum returns the highest code, taking none for negative. Four at a time, as each
// step of one waits for the one before.
func maximum(codes []int32) uint32 {
	var a, b, c, d uint32
	for ; len(codes) >= 4; codes = codes[4:] {
		a, b = max(a, uint32(codes[0])), max(b, uint32(codes[1]))
		c, d = max(c, uint32(codes[2])), max(d, uint32(codes[3]))
	}
	for _, v := range codes {
		a = max(a, uint32(v))
	}
	return max(a, b, c, d)
}

// decodeDeltas decodes the instants of a page into dst: the size of a block and its
// number of miniblocks, the number of values, the first value, and then blocks, which
// begin with their lowest difference and the widths of their miniblocks.
func decodeDeltas(dst []clock.Instant, src []byte) error {
	d := compact{b: src}
	block, parts, values, first := d.uvarint(), d.uvarint(), d.uvarint(), d.int()
	if d.bad || block != 128 || parts != 4 || values != uint64(len(dst)) {
		return errShortPage
	}
	if len(dst) == 0 {
		return nil
	}
	last := clock.Instant(first)
	dst[0] = last
	for dst = dst[1:]; len(dst) > 0; {
		low, widths := clock.Instant(d.int()), d.part(4)
		if d.bad {
			return errShortPage
		}
		for _, width := range widths {
			run := dst[:min(32, len(dst))]
			packed := d.part(4 * int(width))
			if d.bad || width > 64 {
				return errShortPage
			}
			bitpack.Unpack(run, packed, uint(width))
			for i, v := range run {
				last += v + low
				run[i] = last
			}
			if dst = dst[len(run):]; len(dst) == 0 {
				break
			}
		}
	}
	return nil
}

// part returns the next n bytes.
func (d *compact) part(n int) []byte {
	if n > 0 && !d.moved(n) {
		return nil
	}
	return d.b[d.at-n : d.at]
}

// appendIDs adds the ids of a page.
func appendIDs(dst []ID, src []byte) []ID {
	if len(src) < len(ID{}) {
		return dst
	}
	return append(dst, unsafe.Slice((*ID)(unsafe.Pointer(&src[0])), len(src)/len(ID{}))...)
}

// appendNumbers adds the values of a dictionary of numbers.
func appendNumbers(dst []int64, src []byte) []int64 {
	for ; len(src) >= 8; src = src[8:] {
		dst = append(dst, int64(binary.LittleEndian.Uint64(src)))
	}
	return dst
}

// appendTexts adds the values of a dictionary of texts: their length and bytes.
func appendTexts(dst []string, src []byte) ([]string, error) {
	all := string(src) // one copy: the values are parts of it
	for at := 0; at < len(src); {
		if len(src)-at < 4 {
			return dst, errShortPage
		}
		n := int64(binary.LittleEndian.Uint32(src[at:]))
		if at += 4; n > int64(len(src)-at) {
			return dst, errShortPage
		}
		dst = append(dst, all[at:at+int(n)])
		at += int(n)
	}
	return dst, nil
}
