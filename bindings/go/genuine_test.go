package assay

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// Asserts that what Apple signed or answered passes unchanged through the binding, with the
// built-in roots, if ../shared/vectors exists beside the repository. The library's own tests
// check the decisions about it (Tests/AssayTests/Genuine….swift).

// A genuineCase is one entry of a manifest.
type genuineCase struct {
	Name, File, Kind string
	Genuine          bool
	Config           struct {
		BundleIDs    []string `json:"bundle_ids"`
		BundleID     string   `json:"bundle_id"`
		TeamID       string   `json:"team_id"`
		AppAppleID   int64    `json:"app_apple_id"`
		Environments []string `json:"environments"`
		Environment  string   `json:"environment"`
		ProductIDs   []string `json:"product_ids"`
		NowMS        int64    `json:"now_ms"`
		KeyID        string   `json:"key_id_b64"`
		PublicKey    []byte   `json:"public_key_x963_b64"`
		ClientData   *[]byte  `json:"client_data_b64"`
		ClientHash   []byte   `json:"client_data_hash_b64"`
	}
	Expect struct{ Families []string }
}

func TestGenuine(t *testing.T) {
	for name, least := range map[string]int{"jws": 15, "receipts": 15, "attest": 20} {
		folder := filepath.Join("..", "..", "..", "shared", "vectors", name)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
			if errors.Is(err, os.ErrNotExist) {
				t.Skipf("there is no %s/manifest.json", folder)
			}
			must(t, err)
			var cases []genuineCase
			must(t, json.Unmarshal(text, &cases))
			seen := 0
			for _, each := range cases {
				if reflect.DeepEqual(each.Expect.Families, []string{"ok"}) &&
					(each.Genuine || each.Kind == "verify-receipt-response") {
					seen++
					octets, err := os.ReadFile(filepath.Join(folder, each.File))
					must(t, err)
					document := each.document(t, octets)
					if !document.OK() {
						t.Errorf("%s: %v", each.Name, document.Err())
					}
					checkTyped(t, document, parsed(t, document.JSON()))
				}
			}
			if seen < least {
				t.Errorf("only %d are genuine", seen)
			}
		})
	}
}

// document makes the call of a case, and returns its document.
func (c genuineCase) document(t *testing.T, octets []byte) *Document {
	t.Helper()
	config := c.Config
	verifier, err := NewVerifier(c.configuration())
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
	case "app-attest-receipt":
		key := PublicKeyOf(config.PublicKey)
		found, err = verifier.Verify(ctx, KindAttestReceipt, octets, now, key)
	case "verify-receipt-response":
		found, err = verifier.Verify(ctx, KindVerifyReceiptResponse, octets, now)
	case "renewal":
		found, err = verifier.Verify(ctx, KindRenewalInfo, octets, now)
	default:
		found, err = verifier.Verify(ctx, Kind(c.Kind), octets, now)
	}
	must(t, err)
	return proofOf(found)
}

func (c genuineCase) configuration() map[string]any {
	config := c.Config
	if config.BundleIDs == nil {
		config.BundleIDs = []string{config.BundleID}
		config.Environments = []string{"Sandbox"}
		if config.Environment == "production" {
			config.Environments = []string{"Production"}
		}
	}
	if config.TeamID == "" {
		config.TeamID = "ABCDE12345"
	}
	if config.AppAppleID == 0 {
		config.AppAppleID = 1 // any value: no case has the id of an app
	}
	apps, products := []any{}, map[string]any{}
	for _, bundle := range config.BundleIDs {
		apps = append(apps, map[string]any{"bundleId": bundle, "teamId": config.TeamID,
			"appAppleId": config.AppAppleID})
	}
	for _, name := range config.ProductIDs {
		products[name] = map[string]string{"type": "consumable"}
	}
	return map[string]any{"apps": apps, "environments": config.Environments,
		"products": products, "attest": map[string]string{"time": "stored"}}
}
