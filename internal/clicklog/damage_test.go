package clicklog

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// taken opens a log that takes over a file.
func taken(t *testing.T, contents []byte) (l *Log, file *os.File, told *strings.Builder) {
	t.Helper()
	dir := leave(t, contents)
	file, err := os.OpenFile(filepath.Join(dir, "dead", "1"+extension), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	told = &strings.Builder{}
	if l, err = Open(dir, slog.New(slog.NewTextHandler(told, nil))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, file, told
}

// records returns events of some sizes in a file, and where each one ends.
func records(t *testing.T, sizes ...int) (contents []byte, ends []int64) {
	t.Helper()
	for i, size := range sizes {
		e := sample()
		e.ID, e.ReferrerHost = int64(i+1), strings.Repeat("r", size)
		var err error
		if contents, err = appendRecord(contents, e); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int64(len(contents)))
	}
	return contents, ends
}

// survives fails unless all events but those from first up to last are read, each where it was.
func survives(t *testing.T, l *Log, ends []int64, first, last int) {
	t.Helper()
	b, err := l.Next(1000)
	if err != nil || len(b.Runs) != 1 {
		t.Fatalf("%d runs, %v", len(b.Runs), err)
	}
	if want := slices.Delete(slices.Clone(ends), first, last); !slices.Equal(b.Runs[0].Ends, want) {
		t.Fatalf("events end at %d, want %d", b.Runs[0].Ends, want)
	}
	for i, e := range b.Events {
		if i >= first {
			i += last - first
		}
		if e.ID != int64(i+1) {
			t.Fatalf("event %d is where %d was", e.ID, i+1)
		}
	}
}

// Whichever bit flips costs the event that it is in, and no other.
func TestFlippedBit(t *testing.T) {
	whole, ends := records(t, 0, 40, 0, 300, 5)
	l, file, _ := taken(t, whole)
	hit := 0
	for bit := range len(whole) * 8 {
		at := int64(bit / 8)
		if at == ends[hit] {
			hit++
		}
		if _, err := file.WriteAt([]byte{whole[at] ^ 1<<(bit%8)}, at); err != nil {
			t.Fatal(err)
		}
		survives(t, l, ends, hit, hit+1)
		if _, err := file.WriteAt(whole[at:at+1], at); err != nil {
			t.Fatal(err)
		}
	}
}

// Damage of any length anywhere in a file of many reads costs the events that it hit; its
// bytes are told once, however often they are read.
func TestLongDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, 200)
	for i := range sizes {
		sizes[i] = random.IntN(40_000)
	}
	whole, ends := records(t, sizes...)
	for range 30 {
		contents := slices.Clone(whole)
		first := random.IntN(len(ends) - 1)
		last := min(first+1+random.IntN(80), len(ends)-1)
		from := int64(0)
		if first > 0 {
			from = ends[first-1]
		}
		noise := contents[from:ends[last-1]]
		switch random.IntN(3) {
		case 0:
			clear(noise)
		case 1:
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
		case 2: // one byte of each
			for _, end := range ends[first:last] {
				contents[end-1-int64(random.IntN(100))] ^= 0x10
			}
		}
		l, _, told := taken(t, contents)
		survives(t, l, ends, first, last)
		survives(t, l, ends, first, last)
		if lost := ends[last-1] - from; l.Lost() != lost || !strings.Contains(told.String(), "they are damaged") {
			t.Errorf("%d bytes lost, want %d; told:\n%s", l.Lost(), lost, told)
		}
		drain(t, l)
		if l.Backlog() != 0 {
			t.Errorf("backlog %d", l.Backlog())
		}
	}
}

// Bytes are told once, and no bytes not at all.
func TestLostBytesAreToldOnce(t *testing.T) {
	l, told := onDisk(t, t.TempDir(), &disk{})
	defer l.Close()
	s := &segment{path: "file"}
	for _, c := range []struct{ from, to, lost int64 }{{5, 5, 0}, {5, 7, 2}, {4, 7, 2}, {7, 7, 2}, {6, 9, 4}} {
		l.tell(s, c.from, c.to, "they are damaged")
		if l.Lost() != c.lost {
			t.Errorf("%d bytes are lost, want %d", l.Lost(), c.lost)
		}
	}
	if n := strings.Count(told.String(), "they are damaged"); n != 2 {
		t.Errorf("told %d times:\n%s", n, told)
	}
}

// A file that has damaged bytes alone is removed once they are read, and told.
func TestNothingButDamage(t *testing.T) {
	dir := leave(t, []byte("damaged"))
	l := open(t, dir)
	if b, err := l.Next(10); err != nil || len(b.Events) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || l.Lost() != 7 {
		t.Errorf("%v, %v; %d bytes lost", left, err, l.Lost())
	}
}
