package gotfe_test

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// The files of go-tfe whose tests are run. Left out is agent_integration_test.go, which downloads and runs an agent.
var files = []string{
	"admin_organization", "admin_setting_general", "admin_user", "agent_pool", "agent_token", "audit_trail", "ip_ranges",
	"organization", "organization_audit_configuration", "organization_membership", "organization_tags", "organization_token",
	"organization_token_ttl_policy", "projects", "reserved_tag_key", "team", "team_member", "team_token", "user", "user_token",
}

// oneAtATime has the beginnings of the names of tests that are not run beside others: a helper of the first hands out the account while
// another test is still fetching it, and the second takes the first organization of a list for granted, which another test may be removing.
var oneAtATime = []string{"TestTeamMembers", "TestAdminOrganizations_List"}

//go:embed not_served.txt
var list string

// testsOf are the names of the tests in those files, in the order in which they stand there.
func testsOf(source string) ([]string, error) {
	var tests []string
	for _, name := range files {
		path := filepath.Join(source, name+"_integration_test.go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
				tests = append(tests, function.Name.Name)
			}
		}
	}
	return tests, nil
}

// notServedIn is the list for one edition: tests and subtests, each with the reason why it does not pass.
func notServedIn(edition string) (map[string]string, error) {
	notServed := make(map[string]string)
	for number, line := range strings.Split(list, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, reason, found := strings.Cut(line, " | ")
		where, name, named := strings.Cut(test, " ")
		known := where == "both" || where == "hosted" || where == "self-hosted"
		if !found || !named || !known || reason == "" {
			return nil, fmt.Errorf("not_served.txt:%d: not `both|hosted|self-hosted TEST | REASON`", number+1)
		}
		if where != "both" && where != edition {
			continue
		}
		if _, twice := notServed[name]; twice {
			return nil, fmt.Errorf("not_served.txt:%d: %s is there twice", number+1, name)
		}
		notServed[name] = reason
	}
	return notServed, nil
}

// group is a set of tests that one process runs.
type group struct {
	tests []string
	// How many at a time; 0 leaves that to Go.
	parallel int
}

// groups puts the tests into processes: each test that is not served has its own, since some end their process when they fail.
func groups(tests []string, notServed map[string]string) []group {
	beside, alone := group{}, group{parallel: 1}
	var apart []group
	for _, name := range tests {
		switch _, listed := notServed[name]; {
		case listed:
			apart = append(apart, group{tests: []string{name}})
		case isOneAtATime(name):
			alone.tests = append(alone.tests, name)
		default:
			beside.tests = append(beside.tests, name)
		}
	}
	return append([]group{beside, alone}, apart...)
}

func isOneAtATime(name string) bool {
	return slices.ContainsFunc(oneAtATime, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}
