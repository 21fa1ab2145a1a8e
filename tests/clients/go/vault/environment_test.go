// Package vault_test has the Go clients of Vault log in at a running Gatehouse and manage it: the module api with its login helper
// api/auth/gcp, and the generated vault-client-go.
package vault_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	vaultclient "github.com/hashicorp/vault-client-go"
	"github.com/hashicorp/vault/api"
	"github.com/stretchr/testify/require"
)

// settings tell what server is driven: see tests/clients/README.md.
type settings struct {
	address, rootToken, credentials, google, serviceAccount, project string
}

var environment settings

func TestMain(main *testing.M) {
	os.Exit(func() int {
		loaded, err := loadSettings()
		if err == nil {
			environment = loaded
			var end func()
			if end, err = standInForGoogle(environment.google); err == nil {
				defer end()
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return main.Run()
	}())
}

func loadSettings() (settings, error) {
	var missing []string
	value := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	}
	loaded := settings{
		address:        value("GATEHOUSE_ADDRESS"),
		rootToken:      value("GATEHOUSE_ROOT_TOKEN"),
		google:         value("GATEHOUSE_GOOGLE_ADDRESS"),
		serviceAccount: value("GATEHOUSE_SERVICE_ACCOUNT"),
		project:        value("GATEHOUSE_PROJECT"),
	}
	file := value("GATEHOUSE_CREDENTIALS_FILE")
	if len(missing) > 0 {
		return loaded, fmt.Errorf("not set: %s (see tests/clients/README.md)", strings.Join(missing, ", "))
	}
	credentials, err := os.ReadFile(file)
	loaded.credentials = string(credentials)
	return loaded, err
}

// customEndpoint leads the method to the fake Google.
func customEndpoint() map[string]any {
	return map[string]any{
		"api": environment.google, "iam": environment.google, "compute": environment.google, "crm": environment.google,
	}
}

// client is one of the module api, with a token or, for the empty one, without.
func client(t *testing.T, token string) *api.Client {
	t.Helper()
	config := api.DefaultConfig()
	require.NoError(t, config.Error)
	config.Address = environment.address
	made, err := api.NewClient(config)
	require.NoError(t, err)
	made.ClearToken()
	if token != "" {
		made.SetToken(token)
	}
	return made
}

func root(t *testing.T) *api.Client {
	t.Helper()
	return client(t, environment.rootToken)
}

// generated is a client of vault-client-go with this token.
func generated(t *testing.T, token string) *vaultclient.Client {
	t.Helper()
	made, err := vaultclient.New(vaultclient.WithAddress(environment.address))
	require.NoError(t, err)
	if token != "" {
		require.NoError(t, made.SetToken(token))
	}
	return made
}

// mount enables the method at a path, configured, for as long as the test runs.
func mount(t *testing.T, path string) {
	t.Helper()
	root := root(t)
	require.NoError(t, root.Sys().EnableAuthWithOptions(path, &api.EnableAuthOptions{Type: "gcp", Description: "for Go"}))
	t.Cleanup(func() { require.NoError(t, root.Sys().DisableAuth(path)) })
	write(t, "auth/"+path+"/config", map[string]any{"credentials": environment.credentials, "custom_endpoint": customEndpoint()})
}

// role makes an iam role of the workload at a mount, with further fields.
func role(t *testing.T, mount, name string, fields map[string]any) {
	t.Helper()
	body := map[string]any{"type": "iam", "bound_service_accounts": environment.serviceAccount}
	for field, value := range fields {
		body[field] = value
	}
	write(t, "auth/"+mount+"/role/"+name, body)
}

// policy makes a policy for as long as the test runs.
func policy(t *testing.T, name, text string) {
	t.Helper()
	root := root(t)
	require.NoError(t, root.Sys().PutPolicy(name, text))
	t.Cleanup(func() { require.NoError(t, root.Sys().DeletePolicy(name)) })
}

// write writes as the operator.
func write(t *testing.T, path string, body map[string]any) {
	t.Helper()
	_, err := root(t).Logical().WriteWithContext(context.Background(), path, body)
	require.NoError(t, err)
}

// refused expects an answer with this status, and this text somewhere in it.
func refused(t *testing.T, err error, status int, text string) {
	t.Helper()
	var answer *api.ResponseError
	require.ErrorAs(t, err, &answer)
	require.Equal(t, status, answer.StatusCode, answer.Error())
	require.ErrorContains(t, answer, text)
}
