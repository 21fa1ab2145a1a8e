package vault_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/gcp"
	"github.com/stretchr/testify/require"
)

// logIn logs in with the helper, and leaves the token with the client that it returns.
func logIn(t *testing.T, role string, options ...gcp.LoginOption) (*api.Client, *api.Secret) {
	t.Helper()
	workload := client(t, "")
	method, err := gcp.NewGCPAuth(role, options...)
	require.NoError(t, err)
	secret, err := workload.Auth().Login(context.Background(), method)
	require.NoError(t, err)
	require.Equal(t, secret.Auth.ClientToken, workload.Token())
	return workload, secret
}

func TestHelperLogsAServiceAccountIn(t *testing.T) {
	const path = "go-iam"
	mount(t, path)
	role(t, path, "dev", map[string]any{"token_policies": "go-iam", "token_ttl": "10m"})

	workload, secret := logIn(t, "dev", gcp.WithIAMAuth(environment.serviceAccount), gcp.WithMountPath(path))

	require.Equal(t, []string{"default", "go-iam"}, secret.Auth.Policies)
	require.Equal(t, 600, secret.Auth.LeaseDuration)
	require.True(t, secret.Auth.Renewable)
	require.Equal(t, environment.serviceAccount, secret.Auth.Metadata["service_account_email"])
	token, err := workload.Auth().Token().LookupSelf()
	require.NoError(t, err)
	require.Equal(t, path+"-"+environment.serviceAccount, token.Data["display_name"])
	require.Equal(t, "auth/"+path+"/login", token.Data["path"])
}

func TestHelperLogsAnInstanceIn(t *testing.T) {
	const path = "go-gce"
	mount(t, path)
	write(t, "auth/"+path+"/role/vm", map[string]any{"type": "gce", "bound_regions": "europe-west1", "token_policies": "go-gce"})

	_, secret := logIn(t, "vm", gcp.WithGCEAuth(), gcp.WithMountPath(path))

	require.Equal(t, []string{"default", "go-gce"}, secret.Auth.Policies)
	require.Equal(t, "vm", secret.Auth.Metadata["role"])
	require.Equal(t, environment.project, secret.Auth.Metadata["project_id"])
	require.Equal(t, environment.serviceAccount, secret.Auth.Metadata["service_account_email"])
}

func TestHelperLogsInAtANestedMount(t *testing.T) {
	const path = "go/nested/mount"
	mount(t, path)
	role(t, path, "dev", nil)
	write(t, "auth/"+path+"/role/vm", map[string]any{"type": "gce", "bound_regions": "europe-west1"})

	_, byAccount := logIn(t, "dev", gcp.WithIAMAuth(environment.serviceAccount), gcp.WithMountPath(path))
	_, byInstance := logIn(t, "vm", gcp.WithMountPath(path))

	require.Equal(t, "dev", byAccount.Auth.Metadata["role"])
	require.Equal(t, "vm", byInstance.Auth.Metadata["role"])
}

func TestHelperIsToldWhyItMayNotLogIn(t *testing.T) {
	const path = "go-refused"
	mount(t, path)
	write(t, "auth/"+path+"/role/elsewhere", map[string]any{"type": "gce", "bound_regions": "us-central1"})
	for role, text := range map[string]string{"missing": `role "missing" not found`, "elsewhere": "region"} {
		workload := client(t, "")
		method, err := gcp.NewGCPAuth(role, gcp.WithMountPath(path))
		require.NoError(t, err)

		_, err = workload.Auth().Login(context.Background(), method)

		refused(t, err, http.StatusBadRequest, text)
		require.Empty(t, workload.Token())
	}
}

func TestLifetimeWatcherRenewsUntilTheTokenMayNotLiveLonger(t *testing.T) {
	const path = "go-watched"
	mount(t, path)
	role(t, path, "dev", map[string]any{"token_ttl": "12s", "token_max_ttl": "15s"})
	workload, secret := logIn(t, "dev", gcp.WithIAMAuth(environment.serviceAccount), gcp.WithMountPath(path))
	watcher, err := workload.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: secret})
	require.NoError(t, err)
	go watcher.Start()
	defer watcher.Stop()

	renewals := 0
	for {
		select {
		case renewal := <-watcher.RenewCh():
			renewals++
			require.Equal(t, secret.Auth.ClientToken, renewal.Secret.Auth.ClientToken)
			require.Equal(t, secret.Auth.Accessor, renewal.Secret.Auth.Accessor)
			require.LessOrEqual(t, renewal.Secret.Auth.LeaseDuration, 12)
		case err := <-watcher.DoneCh():
			require.NoError(t, err)
			require.Positive(t, renewals)
			return
		case <-time.After(time.Minute):
			t.Fatal("neither a renewal nor the end in a minute")
		}
	}
}

func TestWrappedLoginIsUnwrappedOnce(t *testing.T) {
	const path = "go-wrapped"
	mount(t, path)
	role(t, path, "dev", nil)
	workload := client(t, "")
	workload.SetWrappingLookupFunc(func(_, requested string) string {
		if requested == "auth/"+path+"/login" {
			return "2m"
		}
		return ""
	})
	method, err := gcp.NewGCPAuth("dev", gcp.WithIAMAuth(environment.serviceAccount), gcp.WithMountPath(path))
	require.NoError(t, err)
	wrapped, err := method.Login(context.Background(), workload)
	require.NoError(t, err)
	require.Nil(t, wrapped.Auth)
	require.Equal(t, 120, wrapped.WrapInfo.TTL)
	require.Equal(t, "auth/"+path+"/login", wrapped.WrapInfo.CreationPath)

	opened, err := workload.Logical().Unwrap(wrapped.WrapInfo.Token)
	require.NoError(t, err)
	require.NotEmpty(t, opened.Auth.ClientToken)
	require.Equal(t, wrapped.WrapInfo.WrappedAccessor, opened.Auth.Accessor)

	_, err = workload.Logical().Unwrap(wrapped.WrapInfo.Token)
	refused(t, err, http.StatusBadRequest, "wrapping token is not valid or does not exist")
}
