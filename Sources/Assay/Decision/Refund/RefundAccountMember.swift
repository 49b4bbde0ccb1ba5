/// The members of `send-consumption-data` about the account (RFA-16): a table.
struct RefundAccountMember: Sendable {
  let name: StaticString
  /// The path of the observation.
  let input: StaticString
  let value: @Sendable (RefundFacts) -> RefundField.Value

  static let all: [RefundAccountMember] = [
    .init("platform", "observations.account.platform") { $0.platform ?? 0 },
    .init("accountTenure", "observations.account.createdAtMs") { account, nowMs in
      grade(
        account.createdAtMs.map { max(0, nowMs &- $0) / 86_400_000 }, [3, 10, 30, 90, 180, 366])
    },
    .init("playTime", "observations.account.playMs") {
      grade($0.playMs.map { $0 / 60_000 }, [5, 60, 360, 1440, 5760, 23_040])
    },
    .init("lifetimeDollarsRefunded", "observations.account.refundedUsdCents") {
      grade($0.refundedCents, dollars)
    },
    .init("lifetimeDollarsPurchased", "observations.account.spentUsdCents") {
      grade($0.spentCents, dollars)
    },
    .init("userStatus", "observations.account.status") { $0.status ?? 0 },
    .init(token: "appAccountToken", "observations.account.appAccountToken"),
  ]

  /// The ends of the classes of a sum, in cents.
  private static let dollars: [Int64] = [1, 5000, 10_000, 50_000, 100_000, 200_000]

  private init(
    _ name: StaticString, _ input: StaticString,
    _ number: @escaping @Sendable (RefundObservations.Account, Int64) -> Int64
  ) {
    self.name = name
    self.input = input
    value = { .integer(number($0.observations.account, $0.nowMs)) }
  }

  private init(
    _ name: StaticString, _ input: StaticString,
    _ number: @escaping @Sendable (RefundObservations.Account) -> Int64
  ) {
    self.init(name, input) { account, _ in number(account) }
  }

  private init(token name: StaticString, _ input: StaticString) {
    self.name = name
    self.input = input
    value = { .text($0.observations.account.token ?? "") }
  }

  /// Returns the number of the class of `value`, from 1: each ends before its bound. 0 if the
  /// value is not known.
  static func grade(_ value: Int64?, _ ends: [Int64]) -> Int64 {
    guard let value else { return 0 }
    return Int64(ends.firstIndex { value < $0 } ?? ends.count) &+ 1
  }
}
