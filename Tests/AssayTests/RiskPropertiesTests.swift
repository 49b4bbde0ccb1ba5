import AssayAuthority
import Testing

@testable import Assay

/// Tests properties of every combination of observations, whatever the single rules give (RSK-3,
/// RSK-11, RSK-12, RSK-20, RSK-28).
@Suite("Risk properties")
struct RiskPropertiesTests {
  // MARK: all combinations

  /// The values of one observation that some rule distinguishes.
  private struct Axis: Sendable {
    typealias Value = @Sendable (inout RiskObservations) -> Void

    let values: [Value]

    init(_ values: [Value]) { self.values = values }
  }

  private static let devices: [RiskObservations.DeviceCheck] = [
    .noBits, .unavailable, .absent, .tokenRefused,
    .bits(DeviceCheckBits(bit0: true, bit1: false, month: nil)),
    .bits(DeviceCheckBits(bit0: false, bit1: true, month: nil)),
  ]
  private static let requests: [RiskObservations.Request] = [
    .read, .free, .metered, .paid, .promo, .restore,
  ]
  private static let attestations: [RiskObservations.Attestation] = [
    .verified, .refused, .unsupported, .temporarilyUnavailable, .absent,
  ]
  private static let purchases: [RiskObservations.Purchase?] = [nil, .verified, .refused, .foreign]

  private static let axes: [Axis] = [
    Axis(requests.map { value in { $0.request = value } }),
    Axis(attestations.map { value in { $0.attestation = value } }),
    Axis(purchases.map { value in { $0.purchase = value } }),
    Axis(devices.map { value in { $0.deviceCheck = value } }),
    Axis([
      { _ in }, { $0.clientSends = true },
      { $0.clientError = .featureUnsupported }, { $0.clientError = .serverUnavailable },
    ]),
    Axis([{ _ in }, { $0.platform = .macOS }]),
    Axis([
      { _ in }, { $0.accountHadKey = true }, { $0.lastAttestedMs = Exchanges.now - 1 },
    ]),
    Axis([{ _ in }, { $0.receiptRisk = 51 }]),
    Axis([{ _ in }, { $0.category = 0 }]),
    Axis([
      { _ in }, { $0.accountsPerIpDay = 101 },
      {
        $0.unsupportedNow = UnitFraction(Array("1".utf8)[...])
        $0.unsupportedBase = UnitFraction(Array("0".utf8)[...])
      },
    ]),
  ]

  /// An axis, by its index in `axes`.
  private enum Place: Int {
    case request, attestation, purchase, device, client, platform, history, receipt, category
    case rates

    /// The distance of adjacent values in the numbers of combinations.
    var stride: Int { axes[..<rawValue].reduce(1) { $0 * $1.values.count } }
  }

  /// The index of a combination's value on one axis.
  private struct Digit {
    let stride: Int
    let count: Int

    init(_ place: Place) {
      stride = place.stride
      count = axes[place.rawValue].values.count
    }

    func callAsFunction(_ combination: Int) -> Int { combination / stride % count }
  }

  /// The verdicts of all combinations, each computed once. A combination is a number whose digits
  /// are its indexes on the axes.
  private struct Verdicts {
    let verdicts: [RiskVerdict]

    init(_ configuration: Configuration) throws {
      let base = try RiskPropertiesTests.observations(["request": "read", "attestation": "absent"])
      var observed = [base]
      for axis in axes {
        observed = axis.values.flatMap { change in
          observed.map { observations in
            var observations = observations
            change(&observations)
            return observations
          }
        }
      }
      verdicts = observed.map {
        RiskAssessment($0, configuration, nowMs: Exchanges.now).verdict
      }
    }

    /// Reports the first combination that lacks the property.
    func all(_ name: String, _ holds: (Int, RiskVerdict) -> Bool) {
      for (combination, verdict) in verdicts.enumerated() where !holds(combination, verdict) {
        let digits = (0..<axes.count).compactMap(Place.init).map { Digit($0)(combination) }
        Issue.record("\(name): \(digits) gives \(verdict)")
        return
      }
    }

    /// Checks that no value of an axis gets a milder verdict than the one before it.
    func rises(_ name: String, _ place: Place, _ order: [Int]) {
      let digit = Digit(place)
      all(name) { combination, verdict in
        guard digit(combination) == order[0] else { return true }
        var last = verdict
        for next in order.dropFirst() {
          let other = verdicts[combination + (next - order[0]) * digit.stride]
          if other.rawValue < last.rawValue { return false }
          last = other
        }
        return true
      }
    }
  }

  private static func configuration(_ risk: JSONText = [:]) throws -> Configuration {
    try ConfigurationReader.read(
      try Minted.config([("deviceCheck", try Exchanges.deviceCheck()), ("risk", risk)]).bytes)
  }

  private static func observations(_ text: JSONText) throws -> RiskObservations {
    try RiskObservations(
      try ExchangeInput.read(text.bytes, ExchangeInput.request), nil)
  }

  private static let judged = Result { try Verdicts(try configuration()) }

  @Test("RSK-12 what was refused is denied in every combination")
  func refused() throws {
    let verdicts = try Self.judged.get()
    check(verdicts.verdicts.count > 200_000)
    let attestation = Digit(.attestation)
    verdicts.all("refused") { combination, verdict in
      attestation(combination) != 1 || verdict == .deny
    }
  }

  @Test("RSK-3 allow needs an assertion, a verified purchase or a key used lately")
  func clientWord() throws {
    let (attestation, purchase) = (Digit(.attestation), Digit(.purchase))
    let history = Digit(.history)
    try Self.judged.get().all("allow") { combination, verdict in
      verdict != .allow || attestation(combination) == 0 || purchase(combination) == 1
        || history(combination) == 2
    }
  }

  @Test("RSK-17 RSK-28 a verified purchase is never worse than none, in any request")
  func purchase() throws {
    try Self.judged.get().rises("refused purchase", .purchase, [1, 0, 2])
    try Self.judged.get().rises("foreign purchase", .purchase, [1, 0, 3])
  }

  @Test("RSK-28 read and free are judged alike, and no stricter than metered, restore or paid")
  func requests() throws {
    let verdicts = try Self.judged.get()
    verdicts.rises("free, read", .request, [1, 0])
    verdicts.rises("read, free, metered, paid", .request, [0, 1, 2, 3])
    verdicts.rises("read, restore, paid", .request, [0, 5, 3])
  }

  @Test("RSK-20 no offer is given before DeviceCheck has answered, whatever else speaks for it")
  func promotions() throws {
    let verdicts = try Self.judged.get()
    let (request, device) = (Digit(.request), Digit(.device))
    verdicts.all("promo") { combination, verdict in
      guard request(combination) == 4 else { return true }
      switch device(combination) {
      case 1: return verdict.rawValue >= RiskVerdict.stepUp.rawValue
      case 2, 3, 4, 5: return verdict == .deny
      default: return true
      }
    }
    // No result of DeviceCheck is better than a clean device (RSK-14, RSK-19).
    for worse in 1...5 { verdicts.rises("device", .device, [0, worse]) }
  }

  @Test("RSK-2 nothing that speaks against a request makes its verdict milder")
  func worse() throws {
    let verdicts = try Self.judged.get()
    verdicts.rises("metric", .receipt, [0, 1])
    verdicts.rises("category", .category, [0, 1])
    verdicts.rises("address", .rates, [0, 1])
    verdicts.rises("wave", .rates, [0, 2])
    // No attestation state is better than an assertion (RSK-11).
    for other in 1...4 { verdicts.rises("attestation", .attestation, [0, other]) }
  }

  // MARK: rules as data

  @Test("RSK-2 no configuration that is accepted lets pass what was refused")
  func firm() throws {
    var random = SplitMix(seed: 20_261_122)
    let names = ["off", "allow", "limited", "step-up", "deny"]
    let firm = [12, 14, 15, 26]
    var accepted = 0
    for _ in 0..<150 {
      var rules: [JSONText.Member] = []
      var isLoose = false
      for number in 11...28 where random.below(3) == 0 {
        // Mostly plausible verdicts: hardly any others would be accepted.
        let verdict =
          firm.contains(number) && random.below(4) != 0 ? "deny" : names[random.below(5)]
        isLoose = isLoose || (firm.contains(number) && verdict != "deny")
        rules.append(.init("RSK-\(number)", .string(verdict)))
      }
      guard let configuration = try? Self.configuration(["rules": .object(rules)]) else {
        check(isLoose)
        continue
      }
      check(!isLoose)
      accepted += 1
      for _ in 0..<100 {
        let observations = try random.observations(Self.axes)
        let verdict = RiskAssessment(observations, configuration, nowMs: Exchanges.now).verdict
        let isDenied =
          observations.attestation == .refused || observations.category == 0
          || ([.paid, .restore].contains(observations.request)
            && [.refused, .foreign].contains(observations.purchase))
        check(!isDenied || verdict == .deny)
      }
    }
    check(accepted > 50)
  }

  private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return Int((word ^ word >> 31) % UInt64(bound))
    }

    mutating func observations(_ axes: [Axis]) throws -> RiskObservations {
      var observations = try RiskPropertiesTests.observations([
        "request": "read", "attestation": "absent",
      ])
      for axis in axes { axis.values[below(axis.values.count)](&observations) }
      return observations
    }
  }
}
