/// DVC-8: whose fault a refused answer is. The client's only when Apple does not
/// know the device token.
enum DeviceCheckFault: Sendable {
  case client, ours, transient, unknown

  init(_ status: Status) {
    switch status {
    case .rejectedDevicecheckToken: self = .client
    case .unavailableDevicecheckNoAnswer: self = .transient
    case .unavailableDevicecheckResponse: self = .unknown
    default: self = .ours
    }
  }

  var name: StaticString {
    switch self {
    case .client: return "client"
    case .ours: return "ours"
    case .transient: return "transient"
    case .unknown: return "unknown"
    }
  }
}
