<?php

declare(strict_types=1);

namespace Assay;

use Assay\Internal\Arguments;
use Assay\Internal\File;
use Assay\Internal\Header;
use Assay\Internal\Library;
use Assay\Internal\Loader;
use Assay\Internal\Refusal;
use DateTimeInterface;
use SensitiveParameter;

/**
 * Verifies with the pinned roots, apps, products and policy of one configuration, and remembers
 * proven chains.
 *
 * Make one for each request, or one for a worker that serves many. It is immutable; another policy
 * needs another verifier.
 *
 *     $verifier = new Verifier(['apps' => [['bundleId' => 'com.example.app',
 *                                           'appAppleId' => 1234567890]]]);
 *     try {
 *         $transaction = $verifier->verifyTransaction($jws);   // the text that the app sent
 *     } catch (Exception\AssayException $refusal) {            // not genuine, or not for this app
 *         error_log($refusal->getMessage());                   // rule, location and hint
 *         http_response_code($refusal->httpStatus);
 *     }
 *
 * `$now` is milliseconds since 1970 UTC or a DateTimeInterface; null for the system's clock. Every
 * call throws \LogicException if the verifier is closed, and Exception\Misuse for a `$now` outside
 * 2008 … 2100.
 */
final class Verifier
{
    private Library $library;
    private ?object $handle;
    private Document $document;

    /**
     * @param array<string, mixed>|object|string $configuration docs/config.md, as an array or
     *     as JSON text. An empty object is `(object) []`: an empty array is a list
     *
     * @throws Exception\Configuration if it is not usable, with the member's path in `at`
     * @throws Exception\LoadError if there is no usable libassay
     * @throws \ValueError if it cannot be encoded as JSON
     */
    public function __construct(
        #[SensitiveParameter] array|object|string $configuration,
    ) {
        $this->handle = null;
        $this->library = Loader::library();
        $text = Arguments::json($configuration, 'the configuration');
        $code = $this->library->verifierNew($text, $handle, $answer);
        $this->document = $this->accepted($code, $answer);
        $this->handle = $handle;
    }

    /**
     * Makes a verifier of a JSON configuration file.
     *
     * @throws \RuntimeException if the file cannot be read
     * @throws Exception\Configuration if the configuration is not usable, with the member's path
     *     in `at`
     * @throws Exception\LoadError if there is no usable libassay
     */
    public static function fromFile(string $path): self
    {
        return new self(File::read($path));
    }

    // ---- StoreKit

    /**
     * Verifies a signed transaction: a purchase, restore or renewal.
     *
     * @param string $jws the compact JWS, without JSON around it and without a line end
     *
     * @throws Exception\AssayException if it is not genuine, not for this verifier's apps and
     *     environments, or not a JWS of this kind
     */
    public function verifyTransaction(
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now = null,
    ): Facts\Transaction {
        $document = $this->jws(Header::JWS_TRANSACTION, $jws, $now);
        $document->throwIfFailed();

        return Facts\Transaction::in($document, 'transaction');
    }

    /**
     * Verifies a signed renewal info. Arguments and exceptions are those of `verifyTransaction`.
     *
     * @throws Exception\AssayException
     */
    public function verifyRenewalInfo(
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now = null,
    ): Facts\RenewalInfo {
        $document = $this->jws(Header::JWS_RENEWAL_INFO, $jws, $now);
        $document->throwIfFailed();

        return Facts\RenewalInfo::in($document, 'renewalInfo');
    }

    /**
     * Verifies a server notification and every JWS inside it, in one call.
     *
     * @param string $jws the value of `signedPayload` of the request's body
     *
     * @throws Exception\AssayException
     */
    public function verifyNotification(
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now = null,
    ): Facts\Notification {
        $document = $this->jws(Header::JWS_NOTIFICATION, $jws, $now);
        $document->throwIfFailed();

        return Facts\Notification::in($document, 'notification');
    }

    /**
     * Verifies a signed app transaction. Arguments and exceptions are those of `verifyTransaction`.
     *
     * @throws Exception\AssayException
     */
    public function verifyAppTransaction(
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now = null,
    ): Facts\AppTransaction {
        $document = $this->jws(Header::JWS_APP_TRANSACTION, $jws, $now);
        $document->throwIfFailed();

        return Facts\AppTransaction::in($document, 'appTransaction');
    }

    /**
     * Verifies a realtime request of Retention Messaging.
     *
     * @param string $jws the value of `signedPayload` of the request's body
     *
     * @throws Exception\AssayException
     */
    public function verifyRealtimeRequest(
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now = null,
    ): Facts\RealtimeRequest {
        $document = $this->jws(Header::JWS_REALTIME_REQUEST, $jws, $now);
        $document->throwIfFailed();

        return Facts\RealtimeRequest::in($document, 'realtimeRequest');
    }

    // ---- receipts

    /**
     * Verifies a transaction receipt: the property list of iOS 3 to 6, with one purchase.
     *
     * @param string $receipt what the app sent: base64 (once or twice, wrapped, URL-safe) or raw
     *
     * @throws Exception\AssayException; with `retryClass` "after-config" and
     *     rejected.product.unknown the catalogue does not know the product yet, and the client must
     *     keep the receipt
     */
    public function verifyTransactionReceipt(
        #[SensitiveParameter] string $receipt,
        int|DateTimeInterface|null $now = null,
    ): Facts\TransactionReceipt {
        $document = $this->receipt(Header::RECEIPT_TRANSACTION, $receipt, null, $now);
        $document->throwIfFailed();

        return Facts\TransactionReceipt::in($document, 'transactionReceipt');
    }

    /**
     * Verifies an app receipt: all purchases of an app on one device.
     *
     * @param string|null $subject the device that the receipt must belong to: the vendor id as 16
     *     bytes or the text of the UUID (iOS), or the 6 bytes of the MAC address (macOS). Null
     *     skips that check: `deviceBound` is then false
     *
     * @throws Exception\AssayException
     */
    public function verifyAppReceipt(
        #[SensitiveParameter] string $receipt,
        #[SensitiveParameter] ?string $subject = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\AppReceipt {
        $subject = Arguments::device($subject);
        $document = $this->receipt(Header::RECEIPT_APP, $receipt, $subject, $now);
        $document->throwIfFailed();

        return Facts\AppReceipt::in($document, 'appReceipt');
    }

    /**
     * Decodes the body of a response of Apple's verifyReceipt endpoint with HTTP status 200.
     *
     * @throws Exception\AssayException for every response without facts; its `retryClass` is
     *     "later" (no verdict: keep everything as it was and ask again), "same-once",
     *     "other-environment" (the other endpoint, once), "after-config" or "never"
     */
    public function readVerifyReceiptResponse(
        #[SensitiveParameter] string $body,
        int|DateTimeInterface|null $now = null,
    ): Facts\VerifyReceiptResponse {
        $document = $this->answer($body, $now);
        $document->throwIfFailed();

        return Facts\VerifyReceiptResponse::in($document, 'verifyReceipt');
    }

    /**
     * Classifies an untrusted blob without cryptography: its format, whether it is of a configured
     * app, and whether to verify it. No content of the blob is refused: see `worthVerifying`.
     *
     * @throws Exception\Misuse
     */
    public function triage(
        #[SensitiveParameter] string $blob,
        int|DateTimeInterface|null $now = null,
    ): Facts\Triage {
        $now = Arguments::milliseconds($now);
        $code = $this->library->triage($this->open(), $blob, $now, $answer);
        $document = $this->answered($code, $answer);
        if (in_array($code & 0xff, [Header::MISUSE, Header::INTERNAL], true)) {
            throw Refusal::of($document);
        }

        return Facts\Triage::in($document, 'triage');
    }

    /**
     * Returns the transaction id in a receipt of any form, or in a JWS, to ask the App Store Server
     * API about it. The id is not verified: never act on it without Apple's response.
     *
     * For an app receipt it is that of the first purchase. Null if the blob has none.
     *
     * @throws Exception\Misuse
     */
    public function extractUnverifiedTransactionId(
        #[SensitiveParameter] string $blob,
        int|DateTimeInterface|null $now = null,
    ): ?string {
        $content = $this->triage($blob, $now)->unverified;
        // A key is "Production/180000900000001".
        return $content->transactionId ?? $content->originalTransactionId
            ?? explode('/', $content->keys[0] ?? '')[1] ?? null;
    }

    /**
     * Verifies evidence, and returns the document on success and on refusal: check `ok` first, then
     * read `facts()`, or call `throwIfFailed()`.
     *
     * @param string|null $subject as in `verifyAppReceipt` for an app receipt; the public key
     *     as in `verifyAttestReceipt` for an App Attest receipt
     *
     * @throws \ValueError for a subject with a kind that is not a receipt
     */
    public function verify(
        Kind $kind,
        #[SensitiveParameter] string $evidence,
        int|DateTimeInterface|null $now = null,
        #[SensitiveParameter] ?string $subject = null,
    ): Document {
        $receipt = $kind->receipt();
        if ($receipt !== null) {
            $subject = $kind === Kind::AttestReceipt ? $subject : Arguments::device($subject);

            return $this->receipt($receipt, $evidence, $subject, $now);
        }
        if ($subject !== null) {
            throw new \ValueError("a {$kind->value} has no subject");
        }
        $jws = $kind->jws();

        return $jws === null
            ? $this->answer($evidence, $now) : $this->jws($jws, $evidence, $now);
    }

    // ---- App Attest

    /**
     * Verifies an App Attest attestation and the receipt inside it: the key was made by one of this
     * verifier's apps, in the Secure Enclave of a genuine device.
     *
     * @param string $attestation the bytes that `attestKey` returned to the app: decode their
     *     base64 first (`Base64::decode`)
     * @param string $keyId the key identifier, in any of its forms: the base64 text that
     *     `generateKey` returned, base64url, hex, or the 32 bytes
     * @param string|null $clientData the bytes that the app hashed; the library hashes them
     * @param string|null $clientDataHash that hash instead, 16 to 64 bytes
     *
     * @throws Exception\AssayException; `hint` of a Rejected names the common mistake that would
     *     explain it
     * @throws \ValueError unless exactly one of the two client data is given
     */
    public function verifyAttestation(
        #[SensitiveParameter] string $attestation,
        string $keyId,
        #[SensitiveParameter] ?string $clientData = null,
        #[SensitiveParameter] ?string $clientDataHash = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\Attestation {
        [$kind, $data] = Arguments::clientData($clientData, $clientDataHash);
        $now = Arguments::milliseconds($now);
        $code = $this->library->verifyAttestation(
            $this->open(),
            $attestation,
            $keyId,
            $kind,
            $data,
            $now,
            $answer,
        );

        return Facts\Attestation::in($this->accepted($code, $answer), 'attestation');
    }

    /**
     * Verifies an App Attest assertion: the attested key signed this client data, and its counter
     * is greater than the stored one.
     *
     * @param string $assertion the bytes that `generateAssertion` returned to the app
     * @param string $publicKey that of the device key: the 65 bytes of `Attestation::$publicKey`,
     *     or the 91 of `$publicKeySpki`
     * @param int $counter 0 … 2^32 - 1: the last one stored for this key, 0 at first
     *
     * Store the new `counter` only if the stored one is still smaller: the library compares the
     * values, and the database decides between two simultaneous requests.
     *
     * @throws Exception\AssayException
     * @throws \ValueError for a counter that does not fit in 32 bits
     */
    public function verifyAssertion(
        #[SensitiveParameter] string $assertion,
        string $publicKey,
        int $counter,
        #[SensitiveParameter] ?string $clientData = null,
        #[SensitiveParameter] ?string $clientDataHash = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\Assertion {
        [$kind, $data] = Arguments::clientData($clientData, $clientDataHash);
        $now = Arguments::milliseconds($now);
        $code = $this->library->verifyAssertion(
            $this->open(),
            $assertion,
            $publicKey,
            $counter,
            $kind,
            $data,
            $now,
            $answer,
        );

        return Facts\Assertion::in($this->accepted($code, $answer), 'assertion');
    }

    /**
     * Verifies an App Attest receipt, from an attestation or from Apple.
     *
     * @param string $receipt its bytes or base64, in the form in which it was stored or received
     * @param string|null $publicKey the key that the receipt must be about; null skips that check:
     *     `bound` is then false
     *
     * @throws Exception\AssayException
     */
    public function verifyAttestReceipt(
        #[SensitiveParameter] string $receipt,
        ?string $publicKey = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\AttestReceipt {
        $document = $this->receipt(Header::RECEIPT_ATTEST, $receipt, $publicKey, $now);
        $document->throwIfFailed();

        return Facts\AttestReceipt::in($document, 'attestReceipt');
    }

    // ---- access tokens

    /**
     * Verifies an access token: which account is calling, proven by a key of a configured issuer.
     * `subject` is the account; sign-out and deletion of a user are not detected.
     *
     * @param string $token the compact JWS without the word Bearer
     * @param Keyset $keys the key set of its issuer, one of those in `tokens` of the
     *     configuration
     *
     * @throws Exception\AssayException; after rejected.token.unknown-key the document's
     *     `error.keyset` is "refresh" (fetch the key set once) or "cooldown" (refuse)
     */
    public function verifyToken(
        #[SensitiveParameter] string $token,
        Keyset $keys,
        int|DateTimeInterface|null $now = null,
    ): Facts\Token {
        $now = Arguments::milliseconds($now);
        $code = $this->library->verifyToken($this->open(), $keys->open(), $token, $now, $answer);

        return Facts\Token::in($this->accepted($code, $answer), 'token');
    }

    // ---- Sign in with Apple

    /**
     * Verifies an identity token of Sign in with Apple: which user signs in, and that the token was
     * issued for this sign-in. A token is good for one sign-in; issue a session of your own
     * afterwards.
     *
     * @param string $token the identity token that the app sent
     * @param Keyset $keys the key set of Apple
     * @param string|null $nonce the one that you issued for this sign-in and have now consumed;
     *     null only if `tokens` has `nonce` "none"
     *
     * @throws Exception\Rejected if it is not genuine, has expired, is of another app, or of
     *     another sign-in
     * @throws Exception\Unavailable for a key set that is too old
     * @throws Exception\Misuse without the nonce, or for the key set of another issuer
     * @throws Exception\Configuration without a profile `apple-id` in `tokens`
     * @throws Exception\AssayException if the text is not an identity token
     */
    public function verifyAppleIdentityToken(
        #[SensitiveParameter] string $token,
        Keyset $keys,
        #[SensitiveParameter] ?string $nonce = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\Token {
        $document = $this->atOnce(
            ['operation' => 'verify-apple-identity-token', 'token' => $token, 'nonce' => $nonce],
            $now,
            $keys->facts(),
        );
        $document->throwIfFailed();

        return Facts\Token::in($document, 'exchange.token');
    }

    /**
     * Verifies a server-to-server notification of Sign in with Apple. Apple may deliver one several
     * times: act once on each `tokenId`. Answer 200 after storing it, 400 for a refusal.
     *
     * @param string $payload the member `payload` of the body that Apple posted
     *
     * @throws Exception\AssayException as `verifyAppleIdentityToken` does, except for the nonce
     */
    public function verifySignInNotification(
        #[SensitiveParameter] string $payload,
        Keyset $keys,
        int|DateTimeInterface|null $now = null,
    ): Facts\AppleAccountEvent {
        $document = $this->atOnce(
            ['operation' => 'verify-sign-in-notification', 'payload' => $payload],
            $now,
            $keys->facts(),
        );
        $document->throwIfFailed();

        return Facts\AppleAccountEvent::of($document->json()['exchange']['appleIdEvent']);
    }

    // ---- DeviceCheck and risk

    /**
     * Decodes a response of Apple's DeviceCheck API that you fetched.
     *
     * @param string $call the endpoint: "query", "update" or "validate"
     * @param int $status the HTTP status; 0 if no response was received
     * @param string|null $body the whole body; null if empty
     * @param bool $offer whether to report if the device has already used an offer that it gets
     *     once: the configured bit whose name begins with "promo"
     *
     * @throws Exception\AssayException; the facts are then in `$document->facts()`. After an
     *     Unavailable the device is neither clean nor used
     */
    public function readDeviceCheckResponse(
        string $call,
        int $status,
        #[SensitiveParameter] ?string $body,
        bool $offer = false,
        int|DateTimeInterface|null $now = null,
    ): Facts\DeviceCheck {
        $request = [
            'operation' => 'read-device-check-response',
            'call' => $call,
            'status' => $status,
            'body' => ['base64' => base64_encode($body ?? '')],
            'offer' => $offer,
        ];
        $document = $this->atOnce($request, $now);
        $document->throwIfFailed();

        return Facts\DeviceCheck::in($document, 'exchange.deviceCheck');
    }

    /**
     * Returns a device token in the form that Apple requires: standard base64.
     *
     * @param string $token base64 of what `generateToken` returned to the app
     *
     * @throws Exception\AssayException for a text that is not base64, empty, or too long
     */
    public function normalizeDeviceToken(#[SensitiveParameter] string $token): string
    {
        $request = ['operation' => 'normalize-device-token', 'deviceToken' => $token];
        $document = $this->atOnce($request, null);
        $document->throwIfFailed();

        return $document->textAt('exchange.deviceToken') ?? '';
    }

    /**
     * Returns the normal form of an App Attest key identifier: standard base64, as in `keyId` of an
     * attestation. Look up keys by this form only.
     *
     * @param string $keyId what the app sent: base64, base64url without padding, or hex
     *
     * @throws Exception\Malformed for any other text
     */
    public function normalizeKeyId(string $keyId): string
    {
        // A header may contain any byte, JSON may not: a byte that no key id has is replaced by one
        // that stays invalid.
        $text = (string) preg_replace('/[^\x21-\x7e]/', '?', $keyId);
        $document = $this->atOnce(['operation' => 'normalize-key-id', 'keyId' => $text], null);
        $document->throwIfFailed();

        return $document->textAt('exchange.keyId') ?? '';
    }

    /**
     * Recommends how to treat a request from what was observed about it, for devices that support
     * App Attest and for those that do not. A verdict other than allow is a result, not an
     * exception.
     *
     * @param array<string, mixed> $observations `request` and `attestation`, and what else is
     *     known (docs/risk.md). `deviceCheck` may be what `readDeviceCheckResponse` returned
     *
     * @throws Exception\Malformed for an unknown member or value, because a misspelt one must not
     *     lower the risk
     */
    public function assessRisk(
        array $observations,
        int|DateTimeInterface|null $now = null,
    ): Facts\Risk {
        $given = array_map(
            static fn (mixed $value): mixed =>
                $value instanceof Facts\DeviceCheck ? $value->payload() : $value,
            $observations,
        );
        $request = ['operation' => 'assess-risk', 'observations' => (object) $given];
        $document = $this->atOnce($request, $now);
        if (!$document->ok && !str_starts_with($document->status(), 'rejected.risk.')) {
            throw Refusal::of($document);
        }

        return Facts\Risk::in($document, 'risk');
    }

    /**
     * Decides by the rules of `refunds` what to answer when Apple asks about a refund. Send
     * `request` of the answer and nothing else: it is null unless the answer is `send`. Every
     * answer is a result, not an exception.
     *
     * @param array<string, mixed> $case the purchase that Apple asks about
     * @param array<string, mixed> $observations the customer's consent, usage, delivery
     *     (docs/tasks/refund-answers.md)
     *
     * @throws Exception\Malformed for an unknown, missing or wrong member
     */
    public function assessRefund(
        array $case,
        array $observations,
        int|DateTimeInterface|null $now = null,
    ): Facts\RefundAnswer {
        $document = $this->atOnce([
            'operation' => 'assess-refund',
            'case' => (object) $case,
            'observations' => (object) $observations,
        ], $now);
        $byRules = preg_match('/^(rejected|unavailable)\.refund\./', $document->status()) === 1;
        if (!$document->ok && !$byRules) {
            throw Refusal::of($document);
        }

        return Facts\RefundAnswer::in($document, 'exchange.refund');
    }

    /**
     * Returns how many units a revocation takes back, and how many stay with the customer.
     *
     * @param int $units what was promised when the purchase was claimed
     * @param int|null $percentage the `revocationPercentage` of the transaction; null: all of it
     * @param string|null $revocationType its `revocationType`: without a percentage,
     *     REFUND_PRORATED is a share that is not known, and nothing is taken
     * @param string|null $type its `type`; only consumables, which is the default, are divided
     * @param int|null $grantedUnits what the customer was given and was not taken back; null:
     *     `$units`
     *
     * @throws Exception\Misuse for a number out of range and for another type
     */
    public function computeRefundUnits(
        int $units,
        ?int $percentage = null,
        ?string $revocationType = null,
        ?string $type = null,
        ?int $grantedUnits = null,
    ): Facts\RefundUnits {
        $document = $this->atOnce([
            'operation' => 'compute-refund-units',
            'units' => $units,
            'percentage' => $percentage,
            'revocationType' => $revocationType,
            'type' => $type,
            'grantedUnits' => $grantedUnits,
        ], null);
        $document->throwIfFailed();

        return Facts\RefundUnits::of($document->json()['exchange']['units']);
    }

    // ---- classes by task

    /** Returns the object that signs tokens, client secrets and offers with the configured keys. */
    public function signer(): Signer
    {
        return new Signer($this->atOnce(...));
    }

    /** Returns the object that issues and verifies session tokens. Needs the block `session`. */
    public function sessions(): Sessions
    {
        return new Sessions($this->atOnce(...));
    }

    /** Returns a client of Apple's DeviceCheck API. Needs the block `deviceCheck` with its key. */
    public function deviceCheck(): DeviceCheckClient
    {
        return new DeviceCheckClient($this->talked(...));
    }

    // ---- exchanges

    /**
     * Starts an exchange (docs/exchanges.md). An operation that needs no step is done at once, and
     * a refused result is no exception: read `document()`.
     *
     * @param array<string, mixed>|object|string $request `operation` and its members, or JSON text
     * @param Document|Facts\Facts|iterable<Document|Facts\Facts> $evidence what the operation is
     *     about
     *
     * @throws Exception\Misuse for a request or evidence of the wrong form
     */
    public function exchange(
        #[SensitiveParameter] array|object|string $request,
        Document|Facts\Facts|iterable $evidence = [],
        int|DateTimeInterface|null $now = null,
    ): Exchange {
        [$code, $handle, $answer] = $this->start($request, $evidence, $now);

        return new Exchange($this->library, $handle, $this->answered($code, $answer));
    }

    /**
     * Returns a client of the App Store Server API. Needs the block `appStoreServerApi`.
     *
     * @param string $environment "Production", "Sandbox", or "auto", which asks Production first
     *     and Sandbox if Production does not have the object
     * @param string|null $bundleId that of the app; may be null if the configuration has one app
     * @param int|null $attempts 1 to 5 for each page; null for 3
     * @param bool|null $partial whether to return the items that verify even if others do not
     * @param string|null $values "strict" refuses a value that Apple has not documented; null
     *     sends it, with a warning
     */
    public function appStore(
        string $environment = 'Production',
        ?string $bundleId = null,
        ?int $attempts = null,
        ?bool $partial = null,
        ?string $values = null,
    ): AppStore {
        $given = static fn (mixed $value): bool => $value !== null;
        $common = ['environment' => $environment, 'bundleId' => $bundleId];
        $options = ['attempts' => $attempts, 'partial' => $partial, 'values' => $values];

        return new AppStore($this, array_filter($common, $given), array_filter($options, $given));
    }

    /**
     * Fetches a new receipt of an attested key from Apple: store its `bytes` instead of the old
     * one. Needs the block `deviceCheck` with its key.
     *
     * @param Document|Facts\AttestReceipt|Facts\Attestation $evidence the old receipt, or the
     *     attestation with it
     * @param callable(array<string, mixed>): array<string, mixed>|null $send sends a request and
     *     returns the response; null for a Sender
     *
     * @throws Exception\Unavailable if Apple has no new receipt now: keep the old one
     * @throws Exception\Rejected if only a new key has a risk metric again, which is no sign of
     *     fraud, and for a receipt that is not the one expected
     */
    public function refreshAttestReceipt(
        Document|Facts\AttestReceipt|Facts\Attestation $evidence,
        ?callable $send = null,
    ): Facts\RefreshedReceipt {
        return Facts\RefreshedReceipt::in(
            $this->talked(['operation' => 'refresh-attest-receipt'], $evidence, $send),
            'exchange.attestReceipt',
        );
    }

    /**
     * Asks Apple's OCSP responder whether the certificates of a verified JWS are revoked, with at
     * most two requests. The result is evidence like the JWS itself.
     *
     * @param Document|Facts\Facts $evidence one JWS
     * @param bool $required false if a missing OCSP response is no refusal
     * @param array<string, string> $responses earlier OCSP responses that you kept: the bytes of
     *     `response` by `sha256`, until its `nextUpdate`
     * @param callable(array<string, mixed>): array<string, mixed>|null $send sends a request and
     *     returns the response; null for a Sender
     *
     * @throws Exception\Rejected for revoked and unknown certificates, and for responses that do
     *     not verify
     * @throws Exception\Unavailable if no response was received: that is no sign of forgery, try
     *     later
     */
    public function checkRevocation(
        Document|Facts\Facts $evidence,
        bool $required = true,
        array $responses = [],
        ?callable $send = null,
    ): Facts\Revocation {
        $kept = [];
        foreach ($responses as $name => $response) {
            $kept[] = ['sha256' => $name, 'der' => base64_encode($response)];
        }
        $request = [
            'operation' => 'check-revocation',
            'mode' => $required ? 'required' : 'best-effort',
            'responses' => $kept,
        ];

        return Facts\Revocation::in(
            $this->talked($request, $evidence, $send),
            'exchange.revocation',
        );
    }

    /**
     * Returns the answer to a realtime request of retention messaging: JSON for the body of a
     * response with status 200. Beside the message it has at most one of another product, an
     * offer and an Advanced Commerce request.
     *
     * @param Document|Facts\RealtimeRequest|null $request the verified request: product and
     *     transaction of an offer that names none
     * @param string|null $alternateProductId the product to switch to, with its billing plan
     * @param string|null $offerId a promotional offer, which is signed here; product, transaction,
     *     nonce and bundle as in Signer::signPromotionalOffer
     * @param string|null $promotionalOfferSignatureV2 an offer that is signed already
     * @param array<string, mixed>|null $promotionalOfferSignatureV1 the same of the original
     *     StoreKit API, with Apple's members
     * @param string|null $advancedCommerceRequestData a signed change of an Advanced Commerce
     *     subscription
     *
     * @throws Exception\Misuse for a wrong form, and for two answers at once
     */
    public function buildRealtimeResponse(
        string $messageIdentifier,
        Document|Facts\RealtimeRequest|null $request = null,
        ?string $alternateProductId = null,
        ?string $billingPlanType = null,
        ?string $offerId = null,
        ?string $productId = null,
        ?string $transactionId = null,
        ?string $nonce = null,
        ?string $bundleId = null,
        ?string $promotionalOfferSignatureV2 = null,
        ?array $promotionalOfferSignatureV1 = null,
        ?string $advancedCommerceRequestData = null,
        int|DateTimeInterface|null $now = null,
    ): string {
        $document = $this->atOnce([
            'operation' => 'build-realtime-response',
            'messageIdentifier' => $messageIdentifier,
            'alternateProductId' => $alternateProductId,
            'billingPlanType' => $billingPlanType,
            'offerIdentifier' => $offerId,
            'productId' => $productId,
            'transactionId' => $transactionId,
            'nonce' => $nonce,
            'bundleId' => $bundleId,
            'promotionalOfferSignatureV2' => $promotionalOfferSignatureV2,
            'promotionalOfferSignatureV1' => $promotionalOfferSignatureV1,
            'advancedCommerceRequestData' => $advancedCommerceRequestData,
        ], $now, $request ?? []);
        $document->throwIfFailed();

        return $document->textAt('exchange.body') ?? '';
    }

    /**
     * Verifies that a JWS was made for this device. The document is evidence like the JWS itself.
     *
     * @param Document|Facts\Facts $evidence one transaction, renewal info or app transaction
     * @param string $deviceId the app's `AppStore.deviceVerificationID`, a UUID
     *
     * @throws Exception\Rejected for another device
     * @throws Exception\Misuse for a JWS that was not made on a device, and for an id that is not a
     *     UUID
     */
    public function verifyDevice(
        Document|Facts\Facts $evidence,
        string $deviceId,
        int|DateTimeInterface|null $now = null,
    ): Document {
        $document = $this->atOnce(
            ['operation' => 'verify-device', 'deviceId' => $deviceId],
            $now,
            $evidence,
        );
        $document->throwIfFailed();

        return $document;
    }

    /**
     * Answers a request to Apple's deprecated verifyReceipt endpoint offline, in Apple's words. Send
     * `body` of the answer with its `httpStatus`, whatever it is.
     *
     * A refused receipt is an answer and not an exception: `appleStatus` is 0 or 21006 only for a
     * receipt that verified.
     *
     * @param string $body the body of the HTTP request, as it came
     * @param string $endpoint the endpoint that is answered for: `Production` or `Sandbox`
     * @param Document|Facts\Facts|list<Document|Facts\Facts> $evidence what is newer than the
     *     receipt, up to 64; what is about no purchase of the receipt is left out
     * @param string $refusals `documented`: what does not verify is 21003; `measured`: 21002, as
     *     Apple answers
     * @param string $base64 `tolerant` also takes encodings that Apple turns away
     * @param string $ended `later`: a subscription that has ended, with nothing newer known, is
     *     21005, so that the client asks again
     * @param bool $mark whether the answer has the member `assay`, which says that it is not Apple's
     *
     * @throws Exception\Misuse for an endpoint whose environment the configuration does not accept
     */
    public function answerVerifyReceipt(
        #[SensitiveParameter] string $body,
        string $endpoint,
        Document|Facts\Facts|array $evidence = [],
        string $refusals = 'documented',
        string $base64 = 'apple',
        string $ended = 'expired',
        bool $mark = true,
        int|DateTimeInterface|null $now = null,
    ): Facts\VerifyReceiptAnswer {
        $document = $this->atOnce(
            [
                'operation' => 'answer-verify-receipt',
                'endpoint' => $endpoint,
                'body' => ['base64' => base64_encode($body)],
                'refusals' => $refusals,
                'base64' => $base64,
                'ended' => $ended,
                'mark' => $mark,
            ],
            $now,
            $evidence,
        );
        if (preg_match('/^(misuse|config)\./', $document->status()) === 1) {
            throw Refusal::of($document);
        }

        return Facts\VerifyReceiptAnswer::in($document, 'exchange.answer');
    }

    /**
     * Runs an HTTP exchange and returns its accepted result.
     *
     * @param array<string, mixed> $request its members; those that are null are left out
     * @param Document|Facts\Facts|list<never> $evidence
     * @param callable(array<string, mixed>): array<string, mixed>|null $send
     */
    private function talked(
        #[SensitiveParameter] array $request,
        Document|Facts\Facts|array $evidence,
        ?callable $send,
    ): Document {
        $given = array_filter($request, static fn (mixed $value): bool => $value !== null);
        $document = $this->exchange($given, $evidence)->run($send);
        $document->throwIfFailed();

        return $document;
    }

    // ---- decision

    /**
     * Computes plan, state and the time of the next check from verified evidence. Not entitled is a
     * result, not an exception: `entitled` is then false, and `state` is the reason.
     *
     * @param Document|Facts\Facts|iterable<Document|Facts\Facts> $evidence of this verifier, or of
     *     one with the same configuration, in any mixture; a renewal info needs its transaction
     *     beside it. Facts nested in a notification count as the whole notification
     * @param string|null $account appAccountToken that the evidence must have, a UUID; null leaves
     *     the check to `decision.accountToken` of the configuration
     *
     * @throws Exception\AssayException if the evidence is of another account, not sufficient, was
     *     refused or is none
     */
    public function decide(
        Document|Facts\Facts|iterable $evidence,
        #[SensitiveParameter] ?string $account = null,
        int|DateTimeInterface|null $now = null,
    ): Facts\Decision {
        $handles = Arguments::handles($evidence);
        $now = Arguments::milliseconds($now);
        $code = $this->library->decide($this->open(), $handles, $account, $now, $answer);
        $document = $this->answered($code, $answer);
        if (!$document->ok && $document->status() !== 'rejected.decision.not-entitled') {
            throw Refusal::of($document);
        }

        return Facts\Decision::in($document, 'decision');
    }

    /**
     * Checks whether a stored purchase is still in force. It is meant for hot paths: it needs no
     * evidence. A purchase is in force if it is not revoked, and now < expires or now < grace;
     * never without both dates.
     *
     * @param int|DateTimeInterface|null $expires end of the paid period; null if there is no such
     *     date; Expiry::FOREVER for no end
     *
     * @throws Exception\Misuse for a `$now` outside 2008 … 2100
     */
    public static function checkExpiry(
        int|DateTimeInterface|null $expires,
        int|DateTimeInterface|null $grace = null,
        int|DateTimeInterface|null $revoked = null,
        int|DateTimeInterface|null $now = null,
    ): Expiry {
        $code = Loader::library()->checkExpiry(
            Arguments::date($expires, 'expires'),
            Arguments::date($grace, 'grace'),
            Arguments::date($revoked, 'revoked'),
            Arguments::milliseconds($now),
        );
        if (!in_array($code & 0xff, [Header::OK, Header::REJECTED], true)) {
            throw Refusal::ofStatus($code);
        }

        return new Expiry($code);
    }

    // ---- the verifier itself

    /**
     * Returns the configuration with every default filled in. Keys and secrets are replaced by
     * true.
     *
     * @return array<string, mixed>
     */
    public function configuration(): array
    {
        return $this->document->at('configuration') ?? [];
    }

    /** Returns the document of kind "configuration", with its warnings. */
    public function document(): Document
    {
        return $this->document;
    }

    /** Whether `close` was called. */
    public function isClosed(): bool
    {
        return $this->handle === null;
    }

    /** Frees the verifier. Documents stay valid. Closing twice is allowed. */
    public function close(): void
    {
        $this->handle = null;
    }

    private function open(): object
    {
        return $this->handle ?? throw new \LogicException('the verifier is closed');
    }

    private function jws(
        int $kind,
        #[SensitiveParameter] string $jws,
        int|DateTimeInterface|null $now,
    ): Document {
        $now = Arguments::milliseconds($now);
        $code = $this->library->verifyJws($this->open(), $kind, $jws, $now, $answer);

        return $this->answered($code, $answer);
    }

    private function receipt(
        int $kind,
        string $receipt,
        ?string $subject,
        int|DateTimeInterface|null $now,
    ): Document {
        $now = Arguments::milliseconds($now);
        $code = $this->library->verifyReceipt(
            $this->open(),
            $kind,
            $receipt,
            $subject,
            $now,
            $answer,
        );

        return $this->answered($code, $answer);
    }

    private function answer(string $body, int|DateTimeInterface|null $now): Document
    {
        $now = Arguments::milliseconds($now);
        $code = $this->library->readVerifyReceiptResponse($this->open(), $body, $now, $answer);

        return $this->answered($code, $answer);
    }

    /**
     * @param array<string, mixed>|object|string $request
     * @param Document|Facts\Facts|iterable<Document|Facts\Facts> $evidence
     *
     * @return array{int, ?object, ?object} status, exchange, document
     */
    private function start(
        #[SensitiveParameter] array|object|string $request,
        Document|Facts\Facts|iterable $evidence,
        int|DateTimeInterface|null $now,
    ): array {
        $code = $this->library->exchangeNew(
            $this->open(),
            Arguments::json($request, 'the request'),
            Arguments::handles($evidence),
            Arguments::milliseconds($now),
            $exchange,
            $answer,
        );

        return [$code, $exchange, $answer];
    }

    /**
     * Returns the document of an operation that needs no step.
     *
     * @param array<string, mixed> $request its members; those that are null are left out
     * @param Document|Facts\Facts|list<never> $evidence
     */
    private function atOnce(
        #[SensitiveParameter] array $request,
        int|DateTimeInterface|null $now,
        Document|Facts\Facts|array $evidence = [],
    ): Document {
        $given = array_filter($request, static fn (mixed $value): bool => $value !== null);
        $code = $this->library->call(
            $this->open(),
            Arguments::json($given, 'the request'),
            Arguments::handles($evidence),
            Arguments::milliseconds($now),
            $answer,
        );

        return $this->answered($code, $answer);
    }

    private function answered(int $code, ?object $answer): Document
    {
        if ($answer === null) {
            throw Refusal::ofStatus($code);
        }

        return new Document($this->library, $answer, $code);
    }

    private function accepted(int $code, ?object $answer): Document
    {
        $document = $this->answered($code, $answer);
        $document->throwIfFailed();

        return $document;
    }

    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException('a Verifier cannot be serialised: make one in each process');
    }

    public function __unserialize(array $data): void
    {
        throw new \LogicException('a Verifier cannot be unserialised');
    }

    public function __debugInfo(): array
    {
        return ['closed' => $this->isClosed()];
    }
}
