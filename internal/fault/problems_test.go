package fault_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
)

func ExampleProblems() {
	var p fault.Problems
	for n, title := range []string{"Spring", "", "Autumn"} {
		if title == "" {
			p.Add(fault.Pointer("blocks", n, "title"), fault.ReasonRequired, "a block needs a title")
		}
	}
	p.KeepAt("/theme", fault.Invalid("/color", fault.ReasonInvalid, "the color must be like #1a2b3c"))
	details, err := p.Details()
	fmt.Println(err)
	for _, d := range details {
		fmt.Println(d.Path, d.Code, d.Message)
	}
	fmt.Println(p.Refusal())
	// Output:
	// <nil>
	// /blocks/1/title required a block needs a title
	// /theme/color invalid the color must be like #1a2b3c
	// validation_failed: /blocks/1/title: a block needs a title (and 1 more).
}

func TestNoProblems(t *testing.T) {
	var p fault.Problems
	p.Keep(nil)
	p.Include("/x")
	if details, err := p.Details(); details != nil || err != nil || p.Any() || p.Refusal() != nil {
		t.Errorf("%v, %v, %v", details, err, p.Refusal())
	}
}

// An error that is no refusal of data is never lost.
func TestFailureEndsCheck(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, failure := range []error{broken, fmt.Errorf("read: %w", broken), fault.New(fault.Unavailable, "Later."),
		fault.New(fault.RateLimited, "Slowly."), fault.Missing()} {
		var p fault.Problems
		p.Add("/a", fault.ReasonInvalid, "wrong")
		p.Keep(failure)
		p.Keep(errors.New("another one"))
		p.Add("/b", fault.ReasonInvalid, "wrong")
		if err := p.Refusal(); !p.Any() || err != failure {
			t.Errorf("%v: %v", failure, err)
		}
		if _, err := p.Details(); err != failure {
			t.Errorf("%v: %v", failure, err)
		}
		var alone fault.Problems
		if alone.Keep(failure); !alone.Any() {
			t.Errorf("%v: nothing is wrong", failure)
		}
	}
}

func TestKeep(t *testing.T) {
	var p fault.Problems
	p.Keep(fmt.Errorf("item 1: %w", fault.UnknownReference("/folderId")))
	p.KeepAt("/input", fault.New(fault.InvalidRequest, "The body is not valid JSON."))
	details, err := p.Details()
	want := []fault.Detail{
		{Path: "/folderId", Code: fault.ReasonUnknownReference, Message: "there is no such resource in this app"},
		{Path: "/input", Code: fault.ReasonInvalid, Message: "The body is not valid JSON."},
	}
	if err != nil || !slices.Equal(details, want) {
		t.Errorf("%+v, %v", details, err)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var p fault.Problems
	for n := range 3 * fault.MaxDetails {
		p.Add(fault.Pointer(n), fault.ReasonInvalid, "wrong")
	}
	p.Include("/x", make([]fault.Detail, 100)...)
	details, err := p.Details()
	if err != nil || len(details) != fault.MaxDetails ||
		details[fault.MaxDetails-1].Path != fault.Pointer(fault.MaxDetails-1) {
		t.Errorf("%d problems, %v", len(details), err)
	}
}

func TestPointer(t *testing.T) {
	for want, segments := range map[string][]any{
		"": nil, "/rules/0/id": {"rules", 0, "id"}, "/a~1b/~0": {"a/b", "~"}, "//~01": {"", "~1"},
	} {
		if got := fault.Pointer(segments...); got != want {
			t.Errorf("%v: %q, want %q", segments, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	err := fmt.Errorf("load: %w", fault.Missing())
	if !fault.Is(err, fault.NotFound) || fault.Is(err, fault.Unauthenticated) ||
		fault.Is(errors.New("x"), fault.Internal) || fault.Is(nil, fault.Internal) {
		t.Error("Is does not tell refusals apart")
	}
}
