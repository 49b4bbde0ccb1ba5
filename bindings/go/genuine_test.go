package assay

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Evidence that Apple signed, when ../shared/vectors lies beside the repository.
// None of it is copied here; without the folder the tests skip by name.

// A genuineCase is one entry of a manifest.
type genuineCase struct {
	Name    string
	File    string
	Kind    string
	Genuine bool
	Config  struct {
		BundleIDs     []string `json:"bundle_ids"`
		BundleID      string   `json:"bundle_id"`
		TeamID        string   `json:"team_id"`
		AppAppleID    int64    `json:"app_apple_id"`
		Environments  []string `json:"environments"`
		Environment   string   `json:"environment"`
		ProductIDs    []string `json:"product_ids"`
		Roots         []string `json:"roots"`
		Intermediates []string `json:"intermediates"`
		Pinned        string   `json:"pinned_certificate"`
		NowMS         int64    `json:"now_ms"`
		EffectiveMS   int64    `json:"effective_ms"`
		KeyID         string   `json:"key_id_b64"`
		PublicKey     []byte   `json:"public_key_x963_b64"`
		ClientData    *[]byte  `json:"client_data_b64"`
		ClientHash    []byte   `json:"client_data_hash_b64"`
	}
	Expect struct{ Families []string }
	Facts  map[string]json.RawMessage
}

// genuine are the cases of a folder of vectors, and that folder.
func genuine(t *testing.T, name string) ([]genuineCase, string) {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", "vectors", name)
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("there is no %s/manifest.json", folder)
	}
	must(t, err)
	var cases []genuineCase
	must(t, json.Unmarshal(text, &cases))
	if len(cases) < 15 {
		t.Fatalf("%s has %d cases", folder, len(cases))
	}
	return cases, folder
}

func contents(t *testing.T, folder, name string) []byte {
	t.Helper()
	octets, err := os.ReadFile(filepath.Join(folder, name))
	must(t, err)
	return octets
}

func certificates(t *testing.T, folder string, names []string) []string {
	t.Helper()
	var found []string
	for _, name := range names {
		found = append(found, base64.StdEncoding.EncodeToString(contents(t, folder, name)))
	}
	return found
}

// configuration is what a verifier of JWS or receipts of a case is made from; block
// is the one that the anchors belong to.
func (c genuineCase) configuration(t *testing.T, folder, block string) map[string]any {
	t.Helper()
	config := c.Config
	var apps []map[string]any
	for _, bundle := range config.BundleIDs {
		app := map[string]any{"bundleId": bundle}
		if config.AppAppleID != 0 {
			app["appAppleId"] = config.AppAppleID
		} else if block == "receipts" && contains(config.Environments, "Production") {
			app["appAppleId"] = 1 // any: no case holds that of an app
		}
		apps = append(apps, app)
	}
	built := map[string]any{"apps": apps, "environments": config.Environments}
	storekit, receipts := map[string]any{}, map[string]any{}
	anchored := map[string]map[string]any{"storekit": storekit, "receipts": receipts}[block]
	if len(config.Roots) > 0 {
		anchored["anchors"] = certificates(t, folder, config.Roots)
	}
	if len(config.Intermediates) > 0 {
		anchored["intermediates"] = certificates(t, folder, config.Intermediates)
	}
	if config.Pinned != "" {
		pin := sha256.Sum256(contents(t, folder, config.Pinned))
		storekit["xcodeCertificates"] = []string{hex.EncodeToString(pin[:])}
	}
	products := map[string]any{}
	for _, name := range config.ProductIDs {
		products[name] = map[string]string{"type": "consumable"}
	}
	for name, inside := range map[string]map[string]any{
		"storekit": storekit, "receipts": receipts, "products": products,
	} {
		if len(inside) > 0 {
			built[name] = inside
		}
	}
	return built
}

func contains(list []string, wanted string) bool {
	for _, each := range list {
		if each == wanted {
			return true
		}
	}
	return false
}

func familyOf(status Status) string { return strings.Split(status.String(), ".")[0] }

// document verifies a case with a verifier of this configuration.
func (c genuineCase) document(t *testing.T, kind Kind, folder string, config any) *Document {
	t.Helper()
	verifier, err := NewVerifier(config)
	must(t, err)
	defer verifier.Close()
	document, err := verifier.Verify(ctx, kind, contents(t, folder, c.File),
		At(time.UnixMilli(c.Config.NowMS)))
	must(t, err)
	return document
}

// factNames are the manifest's names of facts, and the paths of documents below the
// facts. Others are about the manifest, or tested by what refuses.
var factNames = map[string]string{
	"signed_date_ms": "signedDate", "environment": "environment", "type": "type",
	"product_id": "productId", "bundle_id": "bundleId", "transaction_id": "transactionId",
	"original_transaction_id": "originalTransactionId", "purchase_date_ms": "purchaseDate",
	"expires_date_ms": "expiresDate", "revocation_date_ms": "revocationDate",
	"auto_renew_product_id": "autoRenewProductId", "auto_renew_status": "autoRenewStatus",
	"notification_type": "type", "subtype": "subtype", "version": "version",
	"receipt_type": "type", "application_version": "applicationVersion",
	"creation_date_ms": "creationDate", "digest": "digest", "status": "appleStatus",
	"style": "style",
}

// checkGenuine compares facts with the manifest, and the typed facts with the JSON.
func checkGenuine(t *testing.T, each genuineCase, document *Document) {
	t.Helper()
	root := parsed(t, document.JSON())
	checkTyped(t, document, root)
	at := strings.Join(kinds[document.Kind()].path, ".")
	compared := 0
	for name, raw := range each.Facts {
		path, known := factNames[name]
		if !known || string(raw) == "null" {
			continue
		}
		compared++
		wanted, found := parsed(t, string(raw)), memberAt(root, at+"."+path)
		if name == "purchase_date_ms" && document.Kind() == KindTransactionReceipt {
			wanted, found = seconds(t, wanted), seconds(t, found) // the manifest has no more
		}
		if found != wanted {
			t.Errorf("%s is %v, not %v", name, found, wanted)
		}
	}
	if compared == 0 && len(each.Facts) > 0 && document.Kind() != KindVerifyReceipt {
		t.Error("the manifest tells no fact")
	}
}

func seconds(t *testing.T, value any) int64 {
	t.Helper()
	number, ok := value.(json.Number)
	if !ok {
		t.Fatalf("%v is no number", value)
	}
	ms, err := number.Int64()
	must(t, err)
	return ms / 1000
}

func TestGenuineJWS(t *testing.T) {
	cases, folder := genuine(t, "jws")
	for _, each := range cases {
		each := each
		t.Run(each.Name, func(t *testing.T) {
			config := each.configuration(t, folder, "storekit")
			document := each.document(t, Kind(each.Kind), folder, config)
			if family := familyOf(document.Status()); !contains(each.Expect.Families, family) {
				t.Fatalf("%v", document.Err())
			}
			if !document.OK() {
				return
			}
			checkGenuine(t, each, document)
			// Apple's root is compiled in, and another app is refused.
			if each.Genuine && each.Config.Pinned == "" {
				delete(config, "storekit")
				if shipped := each.document(t, Kind(each.Kind), folder, config); !shipped.OK() {
					t.Errorf("with the roots compiled in: %v", shipped.Err())
				}
			}
			if each.Genuine && each.Kind == "transaction" {
				config["apps"] = []map[string]any{
					{"bundleId": "com.example.another", "appAppleId": 1}}
				other := each.document(t, KindTransaction, folder, config)
				if !errors.Is(other.Err(), ErrRejected) {
					t.Errorf("for another app: %v", other.Err())
				}
			}
		})
	}
}

func TestGenuineReceipts(t *testing.T) {
	cases, folder := genuine(t, "receipts")
	for _, each := range cases {
		each := each
		t.Run(each.Name, func(t *testing.T) {
			kind := Kind(strings.TrimSuffix(each.Kind, "-response"))
			document := each.document(t, kind, folder, each.configuration(t, folder, "receipts"))
			family := familyOf(document.Status())
			allowed := contains(each.Expect.Families, family) ||
				kind == KindVerifyReceipt && family == "unavailable" &&
					contains(each.Expect.Families, "rejected")
			if !allowed {
				t.Fatalf("%v", document.Err())
			}
			if document.OK() {
				checkGenuine(t, each, document)
			}
		})
	}
}

func TestGenuineAttest(t *testing.T) {
	cases, folder := genuine(t, "attest")
	seen := map[string]int{}
	for _, each := range cases {
		each := each
		if !each.Genuine {
			continue
		}
		t.Run(each.Name, func(t *testing.T) {
			document, err := each.attest(t, contents(t, folder, each.File))
			family := "ok"
			if err != nil {
				var refused *Error
				if !errors.As(err, &refused) {
					t.Fatal(err)
				}
				family = familyOf(refused.Status)
			}
			if !contains(each.Expect.Families, family) {
				t.Fatalf("%s: %v", family, err)
			}
			if err == nil {
				seen[each.Kind]++
				checkTyped(t, document, parsed(t, document.JSON()))
			}
		})
	}
	for _, kind := range []string{"attestation", "assertion", "app-attest-receipt"} {
		if seen[kind] == 0 {
			t.Errorf("no genuine %s was accepted", kind)
		}
	}
}

// attest makes the call of a case of App Attest.
func (c genuineCase) attest(t *testing.T, octets []byte) (*Document, error) {
	t.Helper()
	config := c.Config
	environment := "Sandbox"
	if config.Environment == "production" {
		environment = "Production"
	}
	built := map[string]any{
		"apps": []map[string]any{
			{"bundleId": config.BundleID, "teamId": config.TeamID, "appAppleId": 1}},
		"environments": []string{environment},
	}
	if c.Kind == "app-attest-receipt" {
		built["attest"] = map[string]string{"time": "stored"}
	}
	verifier, err := NewVerifier(built)
	must(t, err)
	defer verifier.Close()
	now := At(time.UnixMilli(config.NowMS))
	data := ClientDataHash(config.ClientHash)
	if config.ClientData != nil {
		data = ClientDataBytes(*config.ClientData)
	}
	var found Evidence
	switch c.Kind {
	case "attestation":
		found, err = verifier.VerifyAttestation(ctx, octets, config.KeyID, data, now)
	case "assertion":
		found, err = verifier.VerifyAssertion(ctx, octets, config.PublicKey, 0, data, now)
	default:
		options := []Option{now}
		if config.PublicKey != nil {
			options = append(options, PublicKeyOf(config.PublicKey))
		}
		found, err = verifier.VerifyAttestReceipt(ctx, octets, options...)
	}
	if err != nil {
		return nil, err
	}
	return proofOf(found), nil
}
