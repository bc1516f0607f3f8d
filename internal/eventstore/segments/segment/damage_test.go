package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
)

// readAll returns the events of a file of these bytes, of the first row groups.
func readAll(data []byte, groups int) (list []Event, err error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	f.groups = f.groups[:min(groups, len(f.groups))]
	for e, err := range f.Events() {
		if err != nil {
			return list, err
		}
		list = append(list, *e)
	}
	return list, nil
}

// pagesEnd returns where the last page of a file ends.
func pagesEnd(f *File) (end int64) {
	for i := range f.groups {
		for _, c := range f.groups[i].chunks {
			end = max(end, c.offset+c.size)
		}
	}
	return end
}

// A flipped bit is an error, or it changes nothing, or it lies behind the pages.
func TestFlippedBits(t *testing.T) {
	list := events(rand.New(rand.NewPCG(1, 2)), 40, 2, 2)
	data := written(t, list)
	end, unnoticed := int(pagesEnd(opened(t, data))), 0
	for bit := 0; bit < len(data)*8; bit += 7 { // each byte, and in turn each of its bits
		data[bit/8] ^= 1 << (bit % 8)
		got, err := readAll(data, 9)
		switch {
		case err == nil && bit/8 < end && !slices.Equal(got, list):
			t.Errorf("bit %d of byte %d of %d, flipped, changes events", bit%8, bit/8, end)
		case err == nil:
			unnoticed++
		case !errors.Is(err, ErrDamaged):
			t.Errorf("bit %d: %v", bit, err)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	t.Logf("%d of %d bits make no error, %d bytes of %d are pages", unnoticed, len(data)*8/7, end, len(data))
}

func TestCutFiles(t *testing.T) {
	data := written(t, events(rand.New(rand.NewPCG(1, 2)), 100, 2, 2))
	for n := range data {
		if _, err := readAll(data[:n], 9); !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

// A file that ends while it is read, or cannot be read, is an error that says so.
func TestShorterThanSaid(t *testing.T) {
	data := written(t, events(rand.New(rand.NewPCG(1, 2)), 100, 2, 2))
	if _, err := Open(bytes.NewReader(data), int64(len(data))+1); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := Open(broken{}, 1000); err == nil || errors.Is(err, ErrDamaged) || !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

type broken struct{}

var errBroken = errors.New("broken disk")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

func TestOtherFormats(t *testing.T) {
	data := written(t, events(rand.New(rand.NewPCG(1, 2)), 10, 1, 1))
	for name, change := range map[string][2]string{
		"a later version":  {formatKey + "\x18\x01" + format, formatKey + "\x18\x012"},
		"no segment":       {formatKey, "waymark.segmenx"},
		"another column":   {"\x07visitor", "\x07visited"},
		"not Parquet":      {magic, "PAR2"},
		"encrypted footer": {magic, "PARE"},
	} {
		changed := bytes.ReplaceAll(data, []byte(change[0]), []byte(change[1]))
		if bytes.Equal(changed, data) {
			t.Fatalf("%s: nothing to change", name)
		}
		if _, err := Open(bytes.NewReader(changed), int64(len(changed))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 30} {
		data := written(f, events(random, n, 2, 2))
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readAll(data, 2); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// Checksums keep FuzzOpen out of the pages, so this tries what is in them.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{3, 3, 0xff, 0x12, 0x34, 4, 1}, uint8(10), uint8(7))
	f.Add([]byte{0x80, 1, 4, 3, 2, 2, 0, 1, 0, 0, 0, 5}, uint8(3), uint8(0))
	f.Add([]byte{1, 0, 0, 0, 'a', 0, 0, 0, 0}, uint8(2), uint8(0))
	f.Fuzz(func(t *testing.T, src []byte, rows, n uint8) {
		padded := append(slices.Clone(src), make([]byte, padding)...)[:len(src)]
		codes := make([]int32, rows)
		if err := decodeCodes(codes, padded, int(n)); err == nil {
			for _, c := range codes {
				if c < 0 || c >= int32(n) {
					t.Fatalf("code %d of %d", c, n)
				}
			}
		}
		_ = decodeDeltas(make([]clock.Instant, rows), padded)
		if texts, err := appendTexts(nil, src); err == nil && len(src) > 0 && len(texts) == 0 {
			t.Fatal("no text")
		}
		if _, _, err := nextPage(padded); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}
