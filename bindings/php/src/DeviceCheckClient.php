<?php

declare(strict_types=1);

namespace Assay;

use SensitiveParameter;

/**
 * Asks Apple's DeviceCheck service about devices, over the network. Made by
 * `Verifier::deviceCheck`.
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
     * Ask Apple for the two bits of a device, over the network. Needs the block `deviceCheck`
     * with its key. Waits and repeats as Apple allows, a few seconds at most.
     *
     * @param string $token base64 of what `generateToken` returned to the app
     * @param string $transactionId 1 to 64 characters, your own: the key in your log
     * @param bool $offer whether to say if an offer that a device gets once was used here
     * @param callable(array<string, mixed>): array<string, mixed>|null $send carries out a
     *     request; null: a Sender
     *
     * @throws Exception\AssayException as `readDeviceCheckResponse`
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
     * Set the bits of a device; one that is null stays as it is. Else as `queryDeviceBits`.
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
     * Have Apple look at a device token alone. Else as `queryDeviceBits`.
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
