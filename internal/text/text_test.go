package text_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/text"
)

func TestCleanLine(t *testing.T) {
	for _, c := range []struct {
		sent, stored string
		refused      error
	}{
		{sent: "Spring sale", stored: "Spring sale"},
		{sent: "  Spring \t\r\n sale\u00a0", stored: "Spring sale"},
		{sent: "one\u2028two\u2029three\u0085four\u3000five", stored: "one two three four five"},
		{sent: "a  b", stored: "a b"},
		{sent: " a", stored: "a"},
		{sent: "a ", stored: "a"},
		{sent: "👩‍👩‍👧", stored: "👩‍👩‍👧"},
		{sent: "می\u200cخواهم", stored: "می\u200cخواهم"},
		{sent: "\u200fשלום", stored: "\u200fשלום"},
		{sent: "~", stored: "~"},
		{sent: "", refused: text.ErrEmpty},
		{sent: " \n\u00a0", refused: text.ErrEmpty},
		{sent: "\u200b\u2060\ufeff", refused: text.ErrEmpty},
		{sent: "a\u0301", stored: "a\u0301"},
		{sent: "\u0301", refused: text.ErrEmpty},
		{sent: "bell\a", refused: text.ErrControl},
		{sent: "delete\x7f", refused: text.ErrControl},
		{sent: "c1\u0080", refused: text.ErrControl},
		{sent: "c1\u009f", refused: text.ErrControl},
		{sent: "x\u2029y", stored: "x y"},
		{sent: "x\u202ay", refused: text.ErrOverride},
		{sent: "x\u202ey", refused: text.ErrOverride},
		{sent: "x\u202fy", stored: "x y"}, // a narrow no-break space
		{sent: "x\u2065y", stored: "x\u2065y"},
		{sent: "x\u2066y", refused: text.ErrOverride},
		{sent: "x\u2069y", refused: text.ErrOverride},
		{sent: "x\u206ay", stored: "x\u206ay"},
	} {
		got, err := text.CleanLine(c.sent)
		if !errors.Is(err, c.refused) || err == nil && got != c.stored {
			t.Errorf("CleanLine(%q) = %q, %v; want %q, %v", c.sent, got, err, c.stored, c.refused)
		}
	}
}

func TestCleanBlock(t *testing.T) {
	for sent, refused := range map[string]error{
		"":                        nil,
		" two\r\nlines\n\tof it ": nil,
		"bell\a":                  text.ErrControl,
		"form\ffeed":              text.ErrControl,
		"next\u0085line":          text.ErrControl,
		"over\u202eride":          text.ErrOverride,
	} {
		got, err := text.CleanBlock(sent)
		if !errors.Is(err, refused) || got != sent {
			t.Errorf("CleanBlock(%q) = %q, %v; want %v", sent, got, err, refused)
		}
	}
}

func TestDecodingStoresTheCleanForm(t *testing.T) {
	var v struct {
		Name  text.Line
		About text.Block
	}
	if err := json.Unmarshal([]byte(`{"Name":" a\n b ","About":" a\n b "}`), &v); err != nil || v.Name != "a b" ||
		v.About != " a\n b " {
		t.Errorf("decoded %+v, %v", v, err)
	}
	if err := json.Unmarshal([]byte(`{"Name":"\u0007"}`), &v); err == nil {
		t.Error("a control character was decoded")
	}
}

// What is stored is its own stored form.
func FuzzCleanLine(f *testing.F) {
	for _, seed := range []string{"a b", " a\n\tb ", "\u200b", "x\u202ey", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, err := text.CleanLine(s)
		if err != nil {
			return
		}
		if again, err := text.CleanLine(clean); err != nil || again != clean {
			t.Errorf("CleanLine(%q) = %q, of which CleanLine makes %q, %v", s, clean, again, err)
		}
	})
}
