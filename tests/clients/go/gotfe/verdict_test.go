package gotfe_test

import (
	"slices"
	"strings"
	"testing"
)

// verdict says what became of a test.
type verdict int

const (
	passed verdict = iota
	// go-tfe leaves it out of its own accord.
	leftOut
	// It is on the list, or fails with nothing but subtests that are.
	notServed
	wrong
)

// Reasons of go-tfe for leaving a test out: it is for the other edition, or is never run.
var ownReasons = []string{
	"Skipping test related to HCP Terraform. Set ENABLE_TFE=1 to run.",
	"Skipping test related to Terraform Enterprise. Set ENABLE_TFE=0 to run.",
	"Cannot upgrade an organization's subscription when enterprise is enabled. Set ENABLE_TFE=0 to run.",
	"paging not supported yet in API",
	"Capacity queues are not available in the API",
	"Skipping, missing Account API support in order to set usernames",
}

// judge holds the outcome of one test against the list, and says why.
func judge(name string, test *outcome, list map[string]string) (verdict, string) {
	reason, listed := list[name]
	switch {
	case test == nil:
		return wrong, "was not run"
	case test.result == pass && listed:
		return wrong, "passes, and is on the list of what is not served: take it off"
	case test.result == pass:
		return passed, ""
	case test.result == skip && slices.Contains(ownReasons, test.reason()):
		if listed {
			return wrong, "is left out by go-tfe itself, and on the list of what is not served: take it off"
		}
		return leftOut, "go-tfe leaves it out: " + test.reason()
	case listed:
		return notServed, "not served: " + reason
	case test.result == skip:
		return wrong, "skipped: " + test.reason()
	case !test.complains() && listsBelow(name, list):
		return notServed, "not served: some of its subtests"
	default:
		return wrong, strings.Join(test.said, "")
	}
}

// listsBelow tells whether a subtest of the test is on the list.
func listsBelow(name string, list map[string]string) bool {
	for listed := range list {
		if strings.HasPrefix(listed, name+"/") {
			return true
		}
	}
	return false
}

func TestVerdicts(t *testing.T) {
	const said = "    some_test.go:12: resource not found\n"
	list := map[string]string{"TestA": "why", "TestB/sub": "why"}
	for _, one := range []struct {
		name     string
		outcome  *outcome
		expected verdict
	}{
		{"TestC", &outcome{result: pass}, passed},
		{"TestC", &outcome{result: fail}, wrong},
		{"TestC", &outcome{said: []string{"panic: nothing there"}}, wrong},
		{"TestC", &outcome{result: skip, said: []string{said}}, wrong},
		{"TestC", &outcome{result: skip, said: []string{"    some_test.go:12: " + ownReasons[0] + "\n"}}, leftOut},
		{"TestC", nil, wrong},
		{"TestA", nil, wrong},
		{"TestA", &outcome{result: pass}, wrong},
		{"TestA", &outcome{result: fail, said: []string{said}}, notServed},
		{"TestA", &outcome{result: skip, said: []string{said}}, notServed},
		{"TestA", &outcome{result: skip, said: []string{"    some_test.go:12: " + ownReasons[0] + "\n"}}, wrong},
		{"TestB", &outcome{result: fail}, notServed},
		{"TestB", &outcome{result: fail, said: []string{said}}, wrong},
		{"TestB/sub", &outcome{result: fail}, notServed},
		{"TestB/other", &outcome{result: fail}, wrong},
	} {
		if found, why := judge(one.name, one.outcome, list); found != one.expected {
			t.Errorf("%s %+v: %d (%s), not %d", one.name, one.outcome, found, why, one.expected)
		}
	}
}
