package main

import (
	"fmt"
	"slices"
	"strings"
)

// verdicts say what became of the tests.
type verdicts struct {
	passed, leftOut, wrong []string
}

// What go-tfe says where it leaves a test out: it is for the other edition, or is never run.
var ownReasons = []string{
	"Skipping test related to HCP Terraform. Set ENABLE_TFE=1 to run.",
	"Skipping test related to Terraform Enterprise. Set ENABLE_TFE=0 to run.",
	"Cannot upgrade an organization's subscription when enterprise is enabled. Set ENABLE_TFE=0 to run.",
	"paging not supported yet in API",
	"Capacity queues are not available in the API",
	"Skipping, missing Account API support in order to set usernames",
}

// judge holds each outcome against the list. A test with subtests fails with them, which is held against it only where it adds to that.
func judge(tests []string, outcomes map[string]*outcome, notServed map[string]string) verdicts {
	var verdicts verdicts
	wrong := func(name, what string) {
		verdicts.wrong = append(verdicts.wrong, fmt.Sprintf("%s %s", name, what))
	}
	for _, name := range tests {
		if outcomes[name] == nil {
			wrong(name, "was not run")
		}
	}
	for name := range notServed {
		if outcomes[name] == nil {
			wrong(name, "is on the list of what is not served, and was not run")
		}
	}
	for name, outcome := range outcomes {
		_, listed := notServed[name]
		switch {
		case listed && outcome.result == pass:
			wrong(name, "is on the list of what is not served, and passes: take it off")
		case listed && outcome.result == skip && slices.Contains(ownReasons, outcome.reason()):
			wrong(name, "is on the list of what is not served, and left out by go-tfe itself: take it off")
		case listed:
		case outcome.result == pass:
			verdicts.passed = append(verdicts.passed, name)
		case outcome.result == skip && slices.Contains(ownReasons, outcome.reason()):
			verdicts.leftOut = append(verdicts.leftOut, name)
		case outcome.result == skip:
			wrong(name, "was skipped: "+outcome.reason())
		case outcome.result == fail && !outcome.complains() && listsBelow(name, notServed):
		default:
			wrong(name, "failed:\n"+strings.Join(outcome.said, ""))
		}
	}
	slices.Sort(verdicts.passed)
	slices.Sort(verdicts.leftOut)
	slices.Sort(verdicts.wrong)
	return verdicts
}

// listsBelow tells whether a subtest of the test is not served.
func listsBelow(name string, notServed map[string]string) bool {
	for listed := range notServed {
		if strings.HasPrefix(listed, name+"/") {
			return true
		}
	}
	return false
}
