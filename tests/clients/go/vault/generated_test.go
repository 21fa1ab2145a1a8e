package vault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	credentials "cloud.google.com/go/iam/credentials/apiv1"
	"cloud.google.com/go/iam/credentials/apiv1/credentialspb"
	vaultclient "github.com/hashicorp/vault-client-go"
	"github.com/hashicorp/vault-client-go/schema"
	"github.com/stretchr/testify/require"
)

// text is a value of an answer as it is read.
func text(value any) string {
	return fmt.Sprint(value)
}

func TestGeneratedClientConfiguresAndLogsIn(t *testing.T) {
	configureAndLogIn(t, "go-generated")
}

// The generated client writes each slash of a mount's path as %2F.
func TestGeneratedClientUsesANestedMount(t *testing.T) {
	configureAndLogIn(t, "go/generated/nested")
}

func configureAndLogIn(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	root := generated(t, environment.rootToken)
	at := vaultclient.WithMountPath(path)
	_, err := root.System.AuthEnableMethod(ctx, path, schema.AuthEnableMethodRequest{Type: "gcp", Description: "generated"})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := root.System.AuthDisableMethod(ctx, path)
		require.NoError(t, err)
	})
	mounts, err := root.System.AuthListEnabledMethods(ctx)
	require.NoError(t, err)
	require.Contains(t, mounts.Data, path+"/")

	_, err = root.Auth.GoogleCloudConfigureAuth(ctx, schema.GoogleCloudConfigureAuthRequest{
		Credentials: environment.credentials, CustomEndpoint: customEndpoint(),
	}, at)
	require.NoError(t, err)
	config, err := root.Auth.GoogleCloudReadAuthConfiguration(ctx, at)
	require.NoError(t, err)
	require.Equal(t, environment.project, config.Data["project_id"])
	require.NotContains(t, config.Data, "private_key")

	_, err = root.Auth.GoogleCloudWriteRole(ctx, "dev", schema.GoogleCloudWriteRoleRequest{
		Type: "iam", BoundServiceAccounts: []string{environment.serviceAccount}, TokenPolicies: []string{"go-generated"}, TokenTtl: "10m",
	}, at)
	require.NoError(t, err)
	read, err := root.Auth.GoogleCloudReadRole(ctx, "dev", at)
	require.NoError(t, err)
	require.Equal(t, "600", text(read.Data["token_ttl"]))
	listed, err := root.Auth.GoogleCloudListRoles(ctx, at)
	require.NoError(t, err)
	require.Equal(t, []string{"dev"}, listed.Data.Keys)
	_, err = root.Auth.GoogleCloudEditServiceAccountsForRole(ctx, "dev", schema.GoogleCloudEditServiceAccountsForRoleRequest{
		Add: []string{"other@" + environment.project + ".iam.gserviceaccount.com"},
	}, at)
	require.NoError(t, err)

	logInGenerated(t, path, at)

	_, err = root.Auth.GoogleCloudDeleteRole(ctx, "dev", at)
	require.NoError(t, err)
	_, err = root.Auth.GoogleCloudReadRole(ctx, "dev", at)
	require.True(t, vaultclient.IsErrorStatus(err, http.StatusNotFound), err)
}

// logInGenerated logs in plainly and wrapped.
func logInGenerated(t *testing.T, path string, at vaultclient.RequestOption) {
	t.Helper()
	ctx := context.Background()
	workload := generated(t, "")
	login := schema.GoogleCloudLoginRequest{Role: "dev", Jwt: signedJwt(t, "dev")}
	plain, err := workload.Auth.GoogleCloudLogin(ctx, login, at)
	require.NoError(t, err)
	require.Equal(t, []string{"default", "go-generated"}, plain.Auth.Policies)
	require.Equal(t, 600, plain.Auth.LeaseDuration)
	require.NoError(t, workload.SetToken(plain.Auth.ClientToken))
	self, err := workload.Auth.TokenLookUpSelf(ctx)
	require.NoError(t, err)
	require.Equal(t, "auth/"+path+"/login", self.Data["path"])

	wrapped, err := workload.Auth.GoogleCloudLogin(ctx, login, at, vaultclient.WithResponseWrapping(5*time.Minute))
	require.NoError(t, err)
	opened, err := vaultclient.Unwrap[map[string]any](ctx, workload, wrapped.WrapInfo.Token)
	require.NoError(t, err)
	require.NotEmpty(t, opened.Auth.ClientToken)
	_, err = vaultclient.Unwrap[map[string]any](ctx, workload, wrapped.WrapInfo.Token)
	require.True(t, vaultclient.IsErrorStatus(err, http.StatusBadRequest), err)
}

// signedJwt is a login JWT that the workload signs for a role.
func signedJwt(t *testing.T, role string) string {
	t.Helper()
	ctx := context.Background()
	signing, err := credentials.NewIamCredentialsClient(ctx)
	require.NoError(t, err)
	defer signing.Close()
	claims, err := json.Marshal(map[string]any{
		"aud": "vault/" + role, "sub": environment.serviceAccount, "exp": time.Now().Add(10 * time.Minute).Unix(),
	})
	require.NoError(t, err)
	signed, err := signing.SignJwt(ctx, &credentialspb.SignJwtRequest{
		Name: "projects/-/serviceAccounts/" + environment.serviceAccount, Payload: string(claims),
	})
	require.NoError(t, err)
	return signed.GetSignedJwt()
}

func TestGeneratedClientTunesAMount(t *testing.T) {
	ctx := context.Background()
	for _, path := range []string{"go-tuned", "go/tuned/nested"} {
		mount(t, path)
		root := generated(t, environment.rootToken)
		_, err := root.System.AuthTuneConfigurationParameters(ctx, path, schema.AuthTuneConfigurationParametersRequest{
			DefaultLeaseTtl: "1h", MaxLeaseTtl: "2h", Description: "tuned",
		})
		require.NoError(t, err, path)
		tuned, err := root.System.AuthReadTuningInformation(ctx, path)
		require.NoError(t, err, path)
		require.Equal(t, int32(3600), tuned.Data.DefaultLeaseTtl)
		require.Equal(t, int32(7200), tuned.Data.MaxLeaseTtl)
		require.Equal(t, "tuned", tuned.Data.Description)
	}
}

func TestGeneratedClientManagesPolicies(t *testing.T) {
	ctx := context.Background()
	root := generated(t, environment.rootToken)
	const name = "go-generated"
	const rules = `path "auth/token/create" { capabilities = ["update"] }`
	_, err := root.System.PoliciesWriteAclPolicy(ctx, name, schema.PoliciesWriteAclPolicyRequest{Policy: rules})
	require.NoError(t, err)
	listed, err := root.System.PoliciesListAclPolicies(ctx)
	require.NoError(t, err)
	require.Contains(t, listed.Data.Keys, name)
	read, err := root.System.PoliciesReadAclPolicy(ctx, name)
	require.NoError(t, err)
	require.Equal(t, rules, read.Data.Policy)
	made, err := root.Auth.TokenCreate(ctx, schema.TokenCreateRequest{Policies: []string{name}, Ttl: "5m"})
	require.NoError(t, err)
	holder := generated(t, made.Auth.ClientToken)
	own, err := holder.System.QueryTokenSelfCapabilities(ctx, schema.QueryTokenSelfCapabilitiesRequest{Paths: []string{"auth/token/create"}})
	require.NoError(t, err)
	require.Equal(t, []any{"update"}, own.Data["auth/token/create"])
	_, err = root.System.PoliciesDeleteAclPolicy(ctx, name)
	require.NoError(t, err)
	_, err = root.System.PoliciesReadAclPolicy(ctx, name)
	require.True(t, vaultclient.IsErrorStatus(err, http.StatusNotFound), err)
}

func TestGeneratedClientManagesTokens(t *testing.T) {
	ctx := context.Background()
	root := generated(t, environment.rootToken)
	_, err := root.Auth.TokenWriteRole(ctx, "go-generated", schema.TokenWriteRoleRequest{AllowedPolicies: []string{"default"}, Renewable: true})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := root.Auth.TokenDeleteRole(ctx, "go-generated")
		require.NoError(t, err)
	})
	role, err := root.Auth.TokenReadRole(ctx, "go-generated")
	require.NoError(t, err)
	require.Equal(t, []any{"default"}, role.Data["allowed_policies"])
	made, err := root.Auth.TokenCreateAgainstRole(ctx, "go-generated", schema.TokenCreateAgainstRoleRequest{
		Policies: []string{"default"}, Ttl: "10m", Renewable: true,
	})
	require.NoError(t, err)
	token := made.Auth.ClientToken
	found, err := root.Auth.TokenLookUp(ctx, schema.TokenLookUpRequest{Token: token})
	require.NoError(t, err)
	require.Equal(t, made.Auth.Accessor, found.Data["accessor"])
	renewed, err := generated(t, token).Auth.TokenRenewSelf(ctx, schema.TokenRenewSelfRequest{Increment: "2m"})
	require.NoError(t, err)
	require.Equal(t, 120, renewed.Auth.LeaseDuration)
	_, err = root.Auth.TokenRevokeAccessor(ctx, schema.TokenRevokeAccessorRequest{Accessor: made.Auth.Accessor})
	require.NoError(t, err)
	_, err = generated(t, token).Auth.TokenLookUpSelf(ctx)
	require.True(t, vaultclient.IsErrorStatus(err, http.StatusForbidden), err)
}
