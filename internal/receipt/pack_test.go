package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// A large body is kept compressed, a small one as it is.
func TestPack(t *testing.T) {
	for _, size := range []int{0, 1, 1023, 1024, 1 << 20} {
		body := bytes.Repeat([]byte(`{"a":1},`), size/8+1)[:size]
		text, packed := pack(body)
		if size < 1024 {
			if text != string(body) || packed != nil {
				t.Errorf("%d bytes: %q, %d bytes packed", size, text, len(packed))
			}
			continue
		}
		back, err := unpack(packed)
		if text != "" || len(packed) > size/4 || err != nil || !bytes.Equal(back, body) {
			t.Errorf("%d bytes: %q, %d bytes packed, %d unpacked, %v", size, text, len(packed), len(back), err)
		}
		if _, err := unpack(packed[:len(packed)-1]); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a body without its end: %v", err)
		}
	}
}

// What compressing an answer of usual size costs.
func BenchmarkPack(b *testing.B) {
	var body []byte
	for i := 0; len(body) < 1500; i++ {
		body = fmt.Appendf(body, `"member%d":"value-%x",`, i, i*i*7919*104729)
	}
	b.ReportAllocs()
	for b.Loop() {
		pack(body)
	}
}
