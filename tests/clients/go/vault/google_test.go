package vault_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"cloud.google.com/go/iam/credentials/apiv1/credentialspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// signingHost is the host where Google's library has JWTs signed. It calls over gRPC, and only a proxy can direct it elsewhere.
const signingHost = "iamcredentials.googleapis.com"

// standInForGoogle directs every call of this process to Google to the fake one, as if from an instance of it: the metadata server, and
// signJwt, whose gRPC is turned into the HTTP that the fake Google speaks. The environment is read once, so this call must come first.
func standInForGoogle(google string) (end func(), err error) {
	folder, err := os.MkdirTemp("", "google")
	if err != nil {
		return nil, err
	}
	end = func() { os.RemoveAll(folder) }
	certificate, err := certificateFor(signingHost, filepath.Join(folder, "authority.pem"))
	if err != nil {
		return end, err
	}
	signing, err := serveSigning(google, certificate)
	if err != nil {
		return end, err
	}
	proxy, err := serveProxy(google, signing)
	if err != nil {
		return end, err
	}
	fake, err := url.Parse(google)
	if err != nil {
		return end, err
	}
	for name, value := range map[string]string{
		"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": "", "http_proxy": "", "https_proxy": "", "no_proxy": "",
		"GCE_METADATA_HOST": fake.Host,
		"SSL_CERT_FILE":     filepath.Join(folder, "authority.pem"),
		// No account of the user who runs this: an instance has only its own.
		"GOOGLE_APPLICATION_CREDENTIALS": "", "CLOUDSDK_CONFIG": folder, "HOME": folder,
		// No Vault settings of that user either.
		"VAULT_ADDR": "", "VAULT_TOKEN": "", "VAULT_NAMESPACE": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			return end, err
		}
	}
	return end, nil
}

// certificateFor makes a self-signed certificate for a host, and writes it to a file for the clients that must trust it.
func certificateFor(host, path string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              []string{host},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	text, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text})
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}, nil
}

// serveProxy serves a proxy that directs HTTP to the metadata server of the fake Google, and TLS to the address where JWTs are signed.
func serveProxy(google, signing string) (string, error) {
	fake, err := url.Parse(google)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	toMetadata := &httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(fake) }}
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		switch {
		case request.Method == http.MethodConnect && request.Host == signingHost+":443":
			join(response, signing)
		case request.URL.Host == "metadata":
			toMetadata.ServeHTTP(response, request)
		default:
			http.Error(response, "nothing is there", http.StatusBadGateway)
		}
	})
	go http.Serve(listener, handler)
	return "http://" + listener.Addr().String(), nil
}

// join forwards the caller's connection to an address.
func join(response http.ResponseWriter, address string) {
	there, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	here, _, err := response.(http.Hijacker).Hijack()
	if err != nil {
		there.Close()
		return
	}
	fmt.Fprint(here, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		io.Copy(there, here)
		there.Close()
	}()
	go func() {
		io.Copy(here, there)
		here.Close()
	}()
}

// signer answers Google's SignJwt with what the fake Google says to the same caller.
type signer struct {
	credentialspb.UnimplementedIAMCredentialsServer
	google string
}

func serveSigning(google string, certificate tls.Certificate) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
	credentialspb.RegisterIAMCredentialsServer(server, &signer{google: google})
	go server.Serve(listener)
	return listener.Addr().String(), nil
}

func (s *signer) SignJwt(ctx context.Context, order *credentialspb.SignJwtRequest) (*credentialspb.SignJwtResponse, error) {
	body, err := json.Marshal(map[string]string{"payload": order.GetPayload()})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.google+"/v1/"+order.GetName()+":signJwt", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	caller, _ := metadata.FromIncomingContext(ctx)
	for _, authorization := range caller.Get("authorization") {
		request.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var signed struct{ KeyId, SignedJwt string }
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(response.Body)
		return nil, status.Error(codes.PermissionDenied, string(said))
	}
	if err := json.NewDecoder(response.Body).Decode(&signed); err != nil {
		return nil, err
	}
	return &credentialspb.SignJwtResponse{KeyId: signed.KeyId, SignedJwt: signed.SignedJwt}, nil
}
