package op

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"time"
)

// Answers wait in memory until their clients have read them.
const (
	// pageBytes is where a page of a list ends, although more rows would fit its limit.
	pageBytes = 1 << 20
	// sendingBytes is how much answers take that are made or written, accountSendingBytes
	// how much of those of one account.
	sendingBytes, accountSendingBytes = 32 << 20, 4 << 20
	// smallAnswer is the size of an answer that is always written, as the bound of
	// connections bounds such answers, too: a refusal, or the secret of a new key.
	smallAnswer = 16 << 10
	// roomTime is how long a list or a file waits for its room.
	roomTime = 2 * time.Second
	// sendingTime is what a client may take to read each sendingChunk of an answer.
	sendingChunk, sendingTime = 64 << 10, 10 * time.Second
)

var errUnread = busy("Too many large answers are being made or read, of this account or of all. Read those that are " +
	"open, then repeat the same request, a mutation with the same key.")

// awaitRoom takes the room of a large answer before its rows are read, which take memory,
// too. What takes turns by itself has few rows in memory, and its room when it is made.
func (c *callContext) awaitRoom(ctx context.Context) error {
	if !c.row.paged && c.row.types == nil || c.row.Turns {
		return nil
	}
	return c.takeRoom(ctx, pageBytes)
}

// takeRoom takes room for so many bytes. A moment later most of those before it are
// written.
func (c *callContext) takeRoom(ctx context.Context, bytes int64) error {
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	room, ok := c.pipeline.sending.wait(ctx, c.Actor.OwnerID, bytes)
	if !ok {
		return errUnread
	}
	c.room = room
	return nil
}

// keepRoom keeps the room of an answer of so many bytes until it is written.
func (c *callContext) keepRoom(bytes int) error {
	if bytes <= smallAnswer {
		bytes = 0
	}
	if c.room != nil || bytes == 0 {
		c.room.shrink(int64(bytes))
		return nil
	}
	return c.takeRoom(c.ctx, int64(bytes))
}

// send writes the parts of a body. It gives up when the client stops reading, and
// returns whether it did.
func send(w http.ResponseWriter, parts ...[]byte) (unread bool) {
	connection := http.NewResponseController(w)
	for _, part := range parts {
		for chunk := range slices.Chunk(part, sendingChunk) {
			// Not every writer has deadlines: one in a test keeps the body.
			connection.SetWriteDeadline(time.Now().Add(sendingTime))
			if _, err := w.Write(chunk); err != nil {
				return errors.Is(err, os.ErrDeadlineExceeded)
			}
		}
	}
	return false
}
