package assay

// A Kind is a kind of document, and of evidence.
type Kind string

// Kinds of evidence, for Verify.
const (
	KindTransaction           Kind = "transaction"
	KindRenewalInfo           Kind = "renewal-info"
	KindNotification          Kind = "notification"
	KindAppTransaction        Kind = "app-transaction"
	KindRealtimeRequest       Kind = "realtime-request"
	KindTransactionReceipt    Kind = "transaction-receipt"
	KindAppReceipt            Kind = "app-receipt"
	KindAttestReceipt         Kind = "attest-receipt"
	KindVerifyReceiptResponse Kind = "verify-receipt-response"
)

// Kinds of the other documents.
const (
	KindAttestation   Kind = "attestation"
	KindAssertion     Kind = "assertion"
	KindTriage        Kind = "triage"
	KindDecision      Kind = "decision"
	KindRisk          Kind = "risk"
	KindToken         Kind = "token"
	KindKeyset        Kind = "keyset"
	KindExchange      Kind = "exchange"
	KindConfiguration Kind = "configuration"
)

// A factsKind is how the facts of one kind of document are made, and where the
// document has them.
type factsKind struct {
	new  func() Evidence
	path []string
}

// in makes the facts of a type that a document has at a path of members.
func in[T any, P interface {
	*T
	Evidence
}](path ...string) factsKind {
	return factsKind{func() Evidence { return P(new(T)) }, path}
}

var kinds = map[Kind]factsKind{
	KindTransaction:           in[Transaction]("transaction"),
	KindRenewalInfo:           in[RenewalInfo]("renewalInfo"),
	KindNotification:          in[Notification]("notification"),
	KindAppTransaction:        in[AppTransaction]("appTransaction"),
	KindRealtimeRequest:       in[RealtimeRequest]("realtimeRequest"),
	KindTransactionReceipt:    in[TransactionReceipt]("transactionReceipt"),
	KindAppReceipt:            in[AppReceipt]("appReceipt"),
	KindAttestReceipt:         in[AttestReceipt]("attestReceipt"),
	KindVerifyReceiptResponse: in[VerifyReceiptResponse]("verifyReceipt"),
	KindAttestation:           in[Attestation]("attestation"),
	KindAssertion:             in[Assertion]("assertion"),
	KindTriage:                in[Triage]("triage"),
	KindDecision:              in[Decision]("decision"),
	KindRisk:                  in[Risk]("risk"),
	KindToken:                 in[Token]("token"),
	KindKeyset:                in[IssuerKeys]("keyset"),
	KindExchange:              in[DeviceCheck]("exchange", "deviceCheck"),
}

// answerOfApple is what a finished verifyReceipt exchange has.
var answerOfApple = in[VerifyReceiptResponse]("exchange", "verifyReceipt")

// answerOfAppStore is what a finished exchange with the App Store Server API has.
var answerOfAppStore = in[AppStoreResponse]("exchange", "result")

// What other exchanges have.
var (
	revocation       = in[Revocation]("exchange", "revocation")
	refreshedReceipt = in[RefreshedReceipt]("exchange", "attestReceipt")
)

// factsKind is how the facts of a document are made; not found where it has none.
func (d *Document) factsKind() (found factsKind, there bool, err error) {
	found, there = kinds[d.Kind()]
	if d.Kind() != KindExchange {
		return found, there, nil
	}
	operation, _, err := d.Text("exchange.operation")
	if err != nil {
		return found, there, err
	}
	switch operation {
	case "call-verify-receipt":
		// In a refusal there is only Apple's status.
		return answerOfApple, d.OK(), nil
	case "check-revocation":
		return revocation, true, nil
	case "refresh-attest-receipt":
		return refreshedReceipt, true, nil
	}
	s := scanner{text: d.json}
	if s.seek("exchange") && s.seek("result") && !s.null() {
		return answerOfAppStore, true, nil
	}
	return found, there, nil
}

// finish sets what the status alone says.
func (d *Decision) finish() error {
	d.Entitled = d.document.OK()
	return nil
}

// finish reads the claims, which stand beside the finding.
func (t *Triage) finish() error {
	claims := new(UnverifiedContent)
	there, err := factsAt(t.document, claims, "unverified")
	if there {
		t.Unverified = claims
	}
	return err
}

// WorthVerifying says whether to look the blob up, verify it, and only then decide.
func (t *Triage) WorthVerifying() bool {
	return t.document != nil && t.document.status.Family() == ErrPending
}

// Status is the outcome: "pending.triage.verify-next", "rejected.triage.cracking-tool" …
// Its HTTPStatus is what to answer the client when it ends here.
func (t *Triage) Status() Status { return statusOf(t.document) }

// Allowed says whether the verdict is allow. False for any other.
func (r *Risk) Allowed() bool { return r.document != nil && r.document.OK() }

// Status is the outcome: "ok", "rejected.risk.limited" … Its HTTPStatus is what to
// answer the client: 200, 401 step-up, 403 deny, 429 limited.
func (r *Risk) Status() Status { return statusOf(r.document) }

// statusOf is the status of a document; that of a bug for facts without one.
func statusOf(document *Document) Status {
	if document == nil {
		return statusNamed(internalBug)
	}
	return document.status
}
