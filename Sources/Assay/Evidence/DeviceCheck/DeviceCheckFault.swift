/// The party at fault for a refused response: the client only if Apple does not accept the device
/// token (DVC-8).
enum DeviceCheckFault: Sendable {
  case client, ours, transient, unknown

  init(_ status: Status) {
    switch status {
    case .rejectedDeviceCheckToken: self = .client
    case .unavailableDeviceCheckNoResponse: self = .transient
    case .unavailableDeviceCheckResponse: self = .unknown
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
