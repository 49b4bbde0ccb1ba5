import DeviceCheck
import Foundation

/// An error of App Attest as a customer reads it, in the language of the app: what happened, and
/// what to do about it.
nonisolated public struct DeviceTrouble: LocalizedError, Equatable, Sendable {
  private static let names: [DCError.Code: String] = [
    .featureUnsupported: "featureUnsupported", .invalidInput: "invalidInput",
    .invalidKey: "invalidKey", .serverUnavailable: "serverUnavailable",
    .unknownSystemFailure: "unknownSystemFailure",
  ]

  private let name: String

  /// Returns `nil` for an error that is not DeviceCheck's.
  public init?(_ error: any Error) {
    guard let error = error as? DCError else { return nil }
    name = Self.names[error.code] ?? "unknownSystemFailure"
  }

  public var errorDescription: String? { Bundle.text("device.\(name).happened") }
  public var recoverySuggestion: String? { Bundle.text("device.\(name).advice") }
}

nonisolated extension Bundle {
  /// The bundle of the texts: that of the package, or of the app into which the files were copied.
  static var texts: Bundle {
    #if SWIFT_PACKAGE
      return .module
    #else
      return .main
    #endif
  }

  fileprivate static func text(_ key: String) -> String {
    texts.localizedString(forKey: key, value: nil, table: nil)
  }
}
