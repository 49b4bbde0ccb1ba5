// A stub of StoreKit, whose purchases a scenario sets.
import Foundation

@frozen public enum VerificationResult<SignedType> {
  case unverified(SignedType, VerificationError)
  case verified(SignedType)

  public enum VerificationError: Error, Sendable { case invalidSignature }

  public var unsafePayloadValue: SignedType {
    switch self {
    case .unverified(let value, _), .verified(let value): return value
    }
  }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
  public var jwsRepresentation: String { unsafePayloadValue.jws }
}

public struct Transaction: Sendable, Identifiable {
  public let id: UInt64
  public let productID: String
  public let revocationDate: Date?
  let jws: String

  public init(id: UInt64, productID: String = "premium", jws: String, revocationDate: Date? = nil) {
    (self.id, self.productID, self.jws, self.revocationDate) = (id, productID, jws, revocationDate)
  }

  public func finish() async {
    MockStore.finished.append(id)
    MockStore.unfinished.removeAll { $0.id == id }
  }

  public struct Transactions: AsyncSequence, Sendable {
    public typealias Element = VerificationResult<Transaction>
    let found: [Transaction]

    public struct AsyncIterator: AsyncIteratorProtocol {
      var left: [Transaction]
      public mutating func next() async -> VerificationResult<Transaction>? {
        left.isEmpty ? nil : .verified(left.removeFirst())
      }
    }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: found) }
  }

  public static var updates: Transactions { Transactions(found: MockStore.updates) }
  public static var unfinished: Transactions { Transactions(found: MockStore.unfinished) }
  public static var currentEntitlements: Transactions {
    Transactions(found: MockStore.entitlements)
  }
}

public struct Product: Sendable {
  public enum PurchaseResult: Sendable {
    case success(VerificationResult<Transaction>)
    case userCancelled, pending
  }

  let bought: Transaction?
  public init(_ bought: Transaction?) { self.bought = bought }

  /// Finds a product of each id, which is not bought.
  public static func products<Ids: Collection>(for ids: Ids) async throws -> [Product]
  where Ids.Element == String {
    ids.map { _ in Product(nil) }
  }

  @MainActor
  public func purchase() async throws -> PurchaseResult {
    guard let bought else { return .pending }
    MockStore.unfinished.append(bought)
    return .success(.verified(bought))
  }
}

/// The state that a scenario sets and reads.
public enum MockStore {
  nonisolated(unsafe) public static var updates: [Transaction] = []
  nonisolated(unsafe) public static var unfinished: [Transaction] = []
  nonisolated(unsafe) public static var entitlements: [Transaction] = []
  nonisolated(unsafe) public static var finished: [UInt64] = []
}
