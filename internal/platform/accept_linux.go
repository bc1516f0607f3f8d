package platform

import (
	"math"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// handshakeFor is how long handshakes under way have to end.
const handshakeFor = 20 * time.Millisecond

// refuseNew has a listening socket ignore packets that begin a connection, and waits for the handshakes
// that are under way. Whoever is ignored asks again after a second, as TCP does: then another process
// listens, or none. A multipath socket cannot do that, and refuses nobody.
func refuseNew(fd int) {
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 13, Size: 1},                           // the flags of the TCP header
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 1 << 1, SkipFalse: 1}, // SYN
		bpf.RetConstant{Val: 0},
		bpf.RetConstant{Val: math.MaxUint32}, // all of the packet
	})
	if err != nil {
		return
	}
	var filter []unix.SockFilter
	for _, i := range program {
		filter = append(filter, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	if unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}) == nil {
		time.Sleep(handshakeFor)
	}
}
