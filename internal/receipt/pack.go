package receipt

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// packFrom is the size from which on a body is compressed: a smaller one becomes hardly
// smaller.
const packFrom = 1 << 10

// The compressor and its opposite may be used by many callers at once. The window is what
// most bodies fit in; it is memory.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(64<<20))
)

// pack returns a body as it is kept: as text, or compressed.
func pack(b []byte) (text string, packed []byte) {
	if len(b) < packFrom {
		return string(b), nil
	}
	return "", compressor.EncodeAll(b, nil)
}

// unpack returns the body of pack. An error is not that of the decompressor, whose unexpected end
// would be taken for one of a connection.
func unpack(packed []byte) ([]byte, error) {
	b, err := decompressor.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack the answer that is kept: %v", err)
	}
	return b, nil
}
