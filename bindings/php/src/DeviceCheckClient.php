<?php

declare(strict_types=1);

namespace Assay;

use SensitiveParameter;

/**
 * Calls Apple's DeviceCheck API over the network. `Verifier::deviceCheck` makes one.
 *
 *     $bits = $verifier->deviceCheck()->queryDeviceBits($token, $transactionId)->bits;
 */
final class DeviceCheckClient
{
    /**
     * @param \Closure(array<string, mixed>, list<never>, ?callable): Document $talked runs an
     *     exchange to its accepted result
     *
     * @internal made by a Verifier
     */
    public function __construct(private \Closure $talked)
    {
    }

    /**
     * Fetches the two bits of a device from Apple. Needs the block `deviceCheck` with its key.
     * Waits and retries as Apple allows, for a few seconds at most.
     *
     * @param string $token base64 of what `generateToken` returned to the app
     * @param string $transactionId your own id of the call, 1 to 64 characters, for your log
     * @param bool $offer whether to report if the device has already used an offer that it gets
     *     once
     * @param callable(array<string, mixed>): array<string, mixed>|null $send sends a request and
     *     returns the response; null for a Sender
     *
     * @throws Exception\AssayException as `readDeviceCheckResponse` does
     */
    public function queryDeviceBits(
        #[SensitiveParameter] string $token,
        string $transactionId,
        bool $offer = false,
        ?callable $send = null,
    ): Facts\DeviceCheck {
        $more = ['offer' => $offer];

        return $this->asked('query-device-bits', $token, $transactionId, $more, $send);
    }

    /**
     * Sets the bits of a device; a bit that is null stays unchanged. The rest is as in
     * `queryDeviceBits`.
     *
     * @param callable(array<string, mixed>): array<string, mixed>|null $send
     */
    public function updateDeviceBits(
        #[SensitiveParameter] string $token,
        string $transactionId,
        ?bool $bit0 = null,
        ?bool $bit1 = null,
        ?callable $send = null,
    ): Facts\DeviceCheck {
        $bits = ['bit0' => $bit0, 'bit1' => $bit1];

        return $this->asked('update-device-bits', $token, $transactionId, $bits, $send);
    }

    /**
     * Asks Apple whether a device token is valid, without reading the bits. The rest is as in
     * `queryDeviceBits`.
     *
     * @param callable(array<string, mixed>): array<string, mixed>|null $send
     */
    public function validateDeviceToken(
        #[SensitiveParameter] string $token,
        string $transactionId,
        ?callable $send = null,
    ): Facts\DeviceCheck {
        return $this->asked('validate-device-token', $token, $transactionId, [], $send);
    }

    /**
     * @param array<string, bool|null> $more
     * @param callable(array<string, mixed>): array<string, mixed>|null $send
     */
    private function asked(
        string $operation,
        #[SensitiveParameter] string $token,
        string $transactionId,
        array $more,
        ?callable $send,
    ): Facts\DeviceCheck {
        $request = [
            'operation' => $operation,
            'deviceToken' => $token,
            'transactionId' => $transactionId,
        ];

        return Facts\DeviceCheck::in(
            ($this->talked)($request + $more, [], $send),
            'exchange.deviceCheck',
        );
    }
}
