// swift-tools-version: 6.2
//
// Assay: verify what Apple signs.
//
// The library is written in the subset of Swift that compiles with the full
// standard library (this manifest) and with Embedded Swift (the Makefile).
// Link flags of libassay.so belong to the Makefile: in linkerSettings they
// would break the linking of tests, and unsafeFlags would bar the package from
// being a dependency.

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// The test authority needs no optimiser, which would take most of the time of a
// build of the command line. The Makefile asks for this; unsafeFlags would bar the
// package from being a dependency, so they are not there for anybody else.
let unoptimised: [SwiftSetting] =
  Context.environment["ASSAY_PLAIN_AUTHORITY"] == nil ? [] : [.unsafeFlags(["-Onone"])]

let package = Package(
  name: "assay",
  products: [
    .library(name: "assay", type: .dynamic, targets: ["AssayABI"]),
    .library(name: "Assay", targets: ["Assay"]),
    .executable(name: "assay-cli", targets: ["assay-cli"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    .systemLibrary(
      name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CAssay", path: "include"),
    .target(name: "CGate"),
    .target(
      name: "Assay", dependencies: ["CLibCrypto"],
      exclude: ["Verdict/hints.tsv", "Verdict/statuses.tsv"], swiftSettings: strict),
    .target(
      name: "AssayABI", dependencies: ["Assay", "CAssay", "CGate"],
      exclude: ["Link"], swiftSettings: strict),
    .target(
      name: "AssayAuthority", dependencies: ["Assay", "CLibCrypto"],
      swiftSettings: strict + unoptimised),
    .executableTarget(
      name: "assay-cli",
      dependencies: [
        "Assay", "AssayAuthority",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),
    .testTarget(
      name: "AssayTests", dependencies: ["Assay", "AssayAuthority"], swiftSettings: strict),
  ]
)
