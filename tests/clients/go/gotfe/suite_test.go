package gotfe_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

const (
	pass = "pass"
	fail = "fail"
	skip = "skip"
)

// outcome is how a test ended, and what it said itself, without its subtests.
type outcome struct {
	result string
	said   []string
}

// suite is the compiled program of go-tfe's tests.
type suite struct {
	program, source string
	environment     []string
}

// run runs a group in a process of its own, in the folder of the module, where the tests find their fixtures.
func (s suite) run(group group, outcomes map[string]*outcome) error {
	arguments := []string{"tool", "test2json", s.program, "-test.v=test2json", "-test.timeout=5m",
		"-test.run=^(" + strings.Join(group.tests, "|") + ")$"}
	if group.parallel > 0 {
		arguments = append(arguments, "-test.parallel="+strconv.Itoa(group.parallel))
	}
	command := exec.Command("go", arguments...)
	command.Dir = s.source
	command.Env = s.environment
	printed, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if err := collect(bufio.NewScanner(printed), outcomes); err != nil {
		return err
	}
	// The tests decide, each by itself: a process with one that is not served fails.
	var failed *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &failed) {
		return err
	}
	return nil
}

func collect(lines *bufio.Scanner, outcomes map[string]*outcome) error {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return fmt.Errorf("not an event of a test: %s", lines.Text())
		}
		if event.Test == "" {
			continue
		}
		test, known := outcomes[event.Test]
		if !known {
			test = &outcome{}
			outcomes[event.Test] = test
		}
		switch event.Action {
		case pass, fail, skip:
			test.result = event.Action
		case "output":
			test.said = append(test.said, event.Output)
		}
	}
	return lines.Err()
}

// A line that a test itself writes begins with the file and the number of the line of code.
var ownLine = regexp.MustCompile(`^\s+\w+_test\.go:\d+: `)

// complains tells whether the test said anything itself: one that fails for its subtests alone does not.
func (o *outcome) complains() bool {
	for _, line := range o.said {
		if ownLine.MatchString(line) || strings.HasPrefix(line, "panic:") {
			return true
		}
	}
	return false
}

// reason is what the test says about why it was skipped.
func (o *outcome) reason() string {
	for _, line := range o.said {
		if place := ownLine.FindString(line); place != "" {
			return strings.TrimSpace(strings.TrimPrefix(line, place))
		}
	}
	return ""
}
