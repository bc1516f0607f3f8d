package cursor

import (
	"errors"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

var now = clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

func TestRoundTripAndBinding(t *testing.T) {
	s := NewSigner([]byte("key"))
	p := Position{At: now - 5, ID: "go.example.com:0192"}
	text := s.Sign(p, "links|a", now)
	if got, err := s.Open(text, "links|a", now.Add(Lifetime)); err != nil || got != p {
		t.Fatalf("Open = %v, %v", got, err)
	}
	if _, err := s.Open(text, "links|a", now.Add(Lifetime+time.Millisecond)); !errors.Is(err, ErrInvalid) {
		t.Errorf("expired cursor: %v", err)
	}
	if _, err := s.Open(text, "links|b", now); !errors.Is(err, ErrInvalid) {
		t.Errorf("cursor of another list: %v", err)
	}
	if _, err := NewSigner([]byte("other")).Open(text, "links|a", now); !errors.Is(err, ErrInvalid) {
		t.Errorf("cursor of another installation: %v", err)
	}
	if _, err := s.Open(text[:9]+"\n"+text[9:], "links|a", now); !errors.Is(err, ErrInvalid) {
		t.Errorf("cursor with a line break: %v", err)
	}
	for i := range text {
		b := []byte(text)
		b[i] ^= 1
		if _, err := s.Open(string(b), "links|a", now); !errors.Is(err, ErrInvalid) {
			t.Errorf("cursor altered at %d: %v", i, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s := NewSigner([]byte("key"))
	f.Add(s.Sign(Position{At: now, ID: "x"}, "b", now))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := s.Open(text, "b", now)
		if err == nil && text != s.Sign(p, "b", now) {
			t.Errorf("%q opened but is not what Sign makes", text)
		}
	})
}
